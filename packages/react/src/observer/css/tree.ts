/** The tree of processes. */
export const treeCss = `
.tro-tree { padding: 6px; container-type: inline-size; }
@container (inline-size < 320px) { .tro-row:has(.tro-status, .tro-badge) > .tro-memory { display: none; } }
.tro-row {
  --indent: calc(var(--level) * 16px);
  display: flex;
  align-items: center;
  gap: 6px;
  min-block-size: 30px;
  padding-inline: calc(4px + var(--indent)) 8px;
  border-radius: 7px;
  cursor: pointer;
  background-image: repeating-linear-gradient(to right, transparent 0 12px, var(--tro-line) 12px 13px, transparent 13px 16px);
  background-size: var(--indent) 100%;
  background-repeat: no-repeat;
}
[dir="rtl"] .tro-row { background-position: right; }
.tro-row:hover { background-color: var(--tro-hover); }
.tro-row[aria-selected="true"] { background-color: var(--tro-accent-soft); }
.tro-row[data-new] { animation: tro-in 400ms ease-out; }
.tro-row[data-gone] { animation: tro-out 700ms ease-in forwards; cursor: default; text-decoration: line-through; }
.tro-row[data-back] { animation: tro-back 2400ms ease-out; }
@keyframes tro-in { from { opacity: 0; transform: translateX(-6px); } }
@keyframes tro-out {
  from { opacity: 1; background-color: var(--tro-bad-soft); }
  to { opacity: 0; background-color: var(--tro-bad-soft); }
}
@keyframes tro-back { 0%, 40% { background-color: var(--tro-good-soft); box-shadow: inset 0 0 0 1px var(--tro-good); } }
.tro-twist { flex: none; inline-size: 18px; block-size: 18px; display: grid; place-items: center; border-radius: 5px; }
.tro-twist[data-parent]::before {
  content: "";
  inline-size: 6px;
  block-size: 6px;
  border: solid var(--tro-muted);
  border-width: 0 1.5px 1.5px 0;
  transform: rotate(-45deg);
}
[aria-expanded="true"] > .tro-twist[data-parent]::before { transform: translateY(-1px) rotate(45deg); }
.tro-twist[data-parent]:hover { background: var(--tro-line); }
.tro-dot { flex: none; inline-size: 8px; block-size: 8px; border-radius: 50%; border: 1.5px solid var(--tro-edge); }
.tro-dot[data-work="running"] { border-color: var(--tro-accent); background: var(--tro-accent); animation: tro-pulse 1.4s ease-in-out infinite; }
.tro-dot:is([data-work="waiting"], [data-work="draining"]) { border-color: var(--tro-warn); background: var(--tro-warn); }
.tro-dot[data-work="suspended"] { border-color: var(--tro-warn); background: var(--tro-warn); border-radius: 2px; }
@keyframes tro-pulse { 50% { box-shadow: 0 0 0 3px var(--tro-accent-soft); } }
.tro-label { flex: 1 1 auto; min-inline-size: 48px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 500; }
.tro-name { color: var(--tro-muted); font-weight: 400; }
.tro-status { flex: none; color: var(--tro-muted); font-size: 12px; }
.tro-status[data-work="running"] { color: var(--tro-accent); }
.tro-status:is([data-work="waiting"], [data-work="draining"], [data-work="suspended"]) { color: var(--tro-warn); }
.tro-memory { flex: none; min-inline-size: 52px; text-align: end; color: var(--tro-muted); font-size: 12px; }
.troupe-observer .tro-nodes { flex: none; display: flex; flex-wrap: wrap; gap: 8px; max-block-size: 168px; overflow: auto; padding: 2px; }
.tro-nodes > li {
  display: flex;
  flex-direction: column;
  padding: 6px 12px;
  border: 1px solid var(--tro-line);
  border-radius: var(--tro-radius);
  background: var(--tro-card);
  cursor: pointer;
}
.tro-frame[data-narrow] > .tro-nodes { flex-wrap: nowrap; }
.tro-frame[data-narrow] > .tro-nodes > li { flex: none; }
.tro-nodes > li:hover { background: var(--tro-hover); }
.tro-nodes > li[aria-selected="true"] { background: var(--tro-accent-soft); border-color: var(--tro-accent); }
.tro-nodes strong { font-weight: 600; overflow-wrap: anywhere; }
.tro-node-facts { color: var(--tro-muted); font-size: 12px; }
.tro-nodes > li[aria-selected="true"] .tro-node-facts { color: var(--tro-text); }
@media (pointer: coarse) { .tro-row { min-block-size: 40px; } }
@media (prefers-reduced-motion: reduce) {
  .troupe-observer *, .troupe-observer *::before { animation-duration: 1ms !important; animation-iteration-count: 1 !important; }
}
`
