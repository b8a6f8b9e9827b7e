/** Buttons, badges, tables. */
export const formCss = `
.tro-button {
  display: inline-flex;
  align-items: center;
  justify-content: center;
  min-block-size: 28px;
  min-inline-size: 28px;
  padding: 0 10px;
  border: 1px solid var(--tro-line);
  border-radius: 7px;
  background: var(--tro-card);
  color: var(--tro-text);
  font: inherit;
  font-size: 12px;
  font-weight: 500;
  cursor: pointer;
}
.tro-button:hover { background: var(--tro-hover); }
.tro-button:disabled { opacity: 0.45; cursor: default; }
.tro-button[data-danger] { color: var(--tro-bad); }
.tro-button[data-solid] { background: var(--tro-accent); border-color: transparent; color: var(--tro-on-accent); }
.tro-button[data-solid][data-danger] { background: var(--tro-bad); color: light-dark(#ffffff, #2b0b0e); }
.tro-button[aria-pressed="true"] { background: var(--tro-accent-soft); border-color: transparent; }
.tro-confirm { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 6px; }
.tro-failure { color: var(--tro-bad); padding: 4px 0; overflow-wrap: anywhere; }
.tro-trouble { background: var(--tro-warn-soft); color: var(--tro-text); border-radius: 8px; padding: 8px 12px; overflow-wrap: anywhere; }
p.tro-failure { padding: 8px 16px; }
.tro-link {
  padding: 2px 0;
  border: 0;
  background: none;
  color: var(--tro-accent);
  font: inherit;
  text-align: start;
  text-decoration: underline;
  text-decoration-thickness: 1px;
  text-underline-offset: 2px;
  cursor: pointer;
}
.tro-badge {
  flex: none;
  padding: 0 6px;
  border-radius: 999px;
  background: var(--tro-hover);
  color: var(--tro-muted);
  font-size: 11px;
  line-height: 18px;
  white-space: nowrap;
}
.tro-badge[data-tone="accent"] { background: var(--tro-accent-soft); color: var(--tro-accent); }
.tro-badge[data-tone="good"] { background: var(--tro-good-soft); color: var(--tro-good); }
.tro-badge[data-tone="warn"] { background: var(--tro-warn-soft); color: var(--tro-warn); }
.tro-badge[data-tone="bad"] { background: var(--tro-bad-soft); color: var(--tro-bad); }
.tro-pill {
  flex: none;
  padding: 2px 10px;
  border-radius: 999px;
  background: var(--tro-hover);
  color: var(--tro-muted);
  font-size: 12px;
  font-weight: 500;
}
.tro-pill:is([data-status="running"], [data-status="busy"]) { background: var(--tro-accent-soft); color: var(--tro-accent); }
.tro-pill[data-status="suspended"] { background: var(--tro-warn-soft); color: var(--tro-warn); }
.tro-pill[data-status="ended"] { background: var(--tro-bad-soft); color: var(--tro-bad); }
.tro-scroll { overflow: auto; max-block-size: 260px; border: 1px solid var(--tro-line); border-radius: 8px; }
.tro-table { inline-size: 100%; border-collapse: collapse; font-size: 12px; }
.tro-table :is(th, td) { padding: 4px 10px; text-align: start; vertical-align: top; font-weight: 400; }
.tro-table thead th {
  position: sticky;
  inset-block-start: 0;
  background: var(--tro-sunken);
  color: var(--tro-muted);
  font-size: 11px;
  z-index: 1;
}
.tro-table tbody tr + tr > * { border-block-start: 1px solid var(--tro-line); }
.tro-toolbar { display: flex; align-items: center; gap: 6px; padding: 8px 16px; }
`
