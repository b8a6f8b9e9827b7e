/** One process, and the meters. */
export const processCss = `
.tro-process { padding: 16px; display: flex; flex-direction: column; gap: 16px; }
.tro-process > * { flex: none; }
.tro-head { display: flex; justify-content: space-between; align-items: flex-start; gap: 12px; }
.tro-head h3 { font-size: 16px; font-weight: 600; line-height: 1.3; overflow-wrap: anywhere; }
.tro-sub { color: var(--tro-muted); }
.tro-figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(64px, 1fr)); gap: 8px; }
.tro-figures > div { background: var(--tro-sunken); border-radius: 8px; padding: 6px 8px; }
.tro-figures dd { font-size: 13px; font-weight: 600; white-space: nowrap; }
.tro-actions { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.tro-return { background: var(--tro-good-soft); color: var(--tro-text); border-radius: 8px; padding: 8px 12px; }
.tro-block { display: flex; flex-direction: column; gap: 6px; min-inline-size: 0; }
.tro-block h4 { font-size: 12px; font-weight: 600; display: flex; align-items: center; gap: 6px; }
.tro-count { color: var(--tro-muted); font-weight: 400; }
.tro-code {
  background: var(--tro-sunken);
  border-radius: 8px;
  padding: 8px 12px;
  max-block-size: 180px;
  overflow: auto;
  font: 12px/1.5 var(--tro-mono);
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.tro-mail { display: flex; flex-direction: column; gap: 4px; counter-reset: mail; max-block-size: 180px; overflow: auto; }
.tro-mail li { counter-increment: mail; display: flex; gap: 8px; background: var(--tro-sunken); border-radius: 6px; padding: 4px 10px; font-size: 12px; }
.tro-mail li::before { content: counter(mail); color: var(--tro-muted); }
.tro-pids { display: flex; flex-wrap: wrap; gap: 2px 16px; }
.tro-meters { display: flex; flex-direction: column; justify-content: center; gap: 8px; flex: 1 1 320px; }
.tro-meter-figures { display: flex; flex-wrap: wrap; gap: 4px 20px; }
.tro-meter-figures dd { font-size: 14px; font-weight: 600; line-height: 24px; }
.tro-meter-figures [data-kind="total"] dd, .tro-meter-figures [data-kind="cost"] dd { font-size: 20px; letter-spacing: -0.01em; }
.tro-meter-figures [data-kind="cost"] { margin-inline-start: auto; text-align: end; }
.tro-meter-figures dt::before { content: ""; display: inline-block; inline-size: 8px; block-size: 8px; border-radius: 2px; margin-inline-end: 5px; }
.tro-meter-figures :is([data-kind="total"], [data-kind="cost"], [data-kind="reasoning"]) dt::before { display: none; }
.tro-meter-figures [data-kind="fresh"] dt::before, .tro-share [data-kind="fresh"] { background: var(--tro-accent); }
.tro-meter-figures [data-kind="cached"] dt::before, .tro-share [data-kind="cached"] { background: light-dark(#aab6f5, #4a5aa8); }
.tro-meter-figures [data-kind="output"] dt::before, .tro-share [data-kind="output"] { background: light-dark(#1e9e76, #3fb592); }
.tro-share { display: flex; gap: 2px; block-size: 6px; border-radius: 3px; overflow: hidden; background: var(--tro-hover); }
.tro-share > span { transition: inline-size 300ms; }
.tro-fold .tro-fold { padding-inline-start: 14px; border-inline-start: 1px solid var(--tro-line); margin-inline-start: 4px; }
.tro-fold summary { cursor: pointer; }
.tro-fold > li { padding-inline-start: 14px; }
.tro-fold > li:has(> details) { padding-inline-start: 0; }
.tro-key { color: var(--tro-accent); }
.tro-key::after { content: ":"; color: var(--tro-muted); }
.tro-leaf { overflow-wrap: anywhere; }
.tro-events { max-block-size: 200px; overflow: auto; border-radius: 8px; background: var(--tro-sunken); padding: 4px 0; }
.tro-events > li { display: flex; gap: 8px; padding: 1px 12px; font-size: 12px; white-space: nowrap; }
.tro-events > li > :nth-child(1) { flex: none; inline-size: 56px; }
.tro-events > li > :nth-child(2) { flex: none; inline-size: 60px; }
.tro-events > li > code { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; overflow-wrap: normal; color: var(--tro-muted); }
`
