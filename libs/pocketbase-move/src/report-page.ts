import { hasWork, type MovedCollection, type MoveReport } from './report.ts';

/** A value in a page's cell: a text, or a text in code. */
type Cell = string | number | { readonly code: string };

/** A report as one page that needs nothing else, so that it can be sent. */
export function reportPage(report: MoveReport): string {
  const rules = [...report.rules].sort((a, b) => order.indexOf(a.result) - order.indexOf(b.result));
  const changed = rules.filter(({ result, why }) => result !== 'exact' || why !== null);
  const title = report.dry_run ? 'Plan of a move from PocketBase' : 'Move from PocketBase';
  const others = rules.length - changed.length;
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${style}</style></head>
<body>
<h1>${title}</h1>
<p>${escaped(report.source)} → ${escaped(report.target)}, ${escaped(report.started)}, ${report.seconds} s${
    report.is_first_run ? '' : ': what has changed since the run before'
  }.</p>
${hasWork(report) ? '' : '<p>Nothing to do.</p>'}
${section('Collections', ['PocketBase', 'here', 'records', 'created', 'changed', 'deleted', 'unchanged', 'kept, changed here', 'refused', 'files', 'missing files'], report.collections.map(cellsOf))}
${section(
  'Rules that are not the same',
  ['collection', 'rule', 'result', 'PocketBase', 'here', 'why'],
  changed.map(({ collection, rule, from, to, result, why }) => [
    collection,
    rule,
    result,
    ruleText(from, true),
    ruleText(to, false),
    why ?? '',
  ]),
)}
${others > 0 ? `<p>${others} other rules say exactly the same.</p>` : ''}
${section('To look at', ['collection', 'field', 'what'], notesOf(report, 'risk'))}
${section('Taken in another form', ['collection', 'field', 'what'], notesOf(report, 'changed'))}
${section(
  'Superusers that are admins',
  ['address'],
  report.admins.map((email) => [email]),
)}
${section('Left out', ['collection', 'field', 'what'], [...notesOf(report, 'left_out'), ...report.not_taken.map((what) => ['', '', what])])}
${section(
  'Values that are not taken as they are',
  ['collection', 'field', 'what', 'count', 'first ones'],
  report.lost_values.map(({ collection, field, what, count, examples }) => [
    collection,
    field,
    what,
    count,
    { code: examples.slice(0, 20).join(', ') },
  ]),
)}
${section('Refused records', ['collection', 'record', 'reasons'], report.collections.flatMap(refusedOf))}
${section(
  'Records kept as they were changed here',
  ['collection', 'records'],
  report.collections.flatMap(({ to, kept_here: kept }) =>
    kept.length > 0 ? [[to, { code: kept.slice(0, 200).join(', ') }]] : [],
  ),
)}
${section(
  'Missing files',
  ['collection', 'file'],
  report.collections.flatMap(({ to, missing_files: missing }) => missing.map((name): Cell[] => [to, { code: name }])),
)}
${section(
  'All rules',
  ['collection', 'rule', 'result', 'PocketBase', 'here'],
  rules.map(({ collection, rule, from, to, result }) => [
    collection,
    rule,
    result,
    ruleText(from, true),
    ruleText(to, false),
  ]),
)}
</body>
</html>
`;
}

const order = ['locked', 'narrower', 'exact'];

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#1d2733}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #d8dee6}th{color:#51606f;font-weight:600}
code{font-size:.9em;overflow-wrap:anywhere;white-space:pre-wrap}`;

const ruleText = (text: string | null, isPocketBase: boolean): Cell => {
  if (text === null) return isPocketBase ? 'superusers only' : 'everyone';
  if (text === '') return isPocketBase ? 'everyone' : 'admins only';
  return { code: text };
};

const cellsOf = (moved: MovedCollection): Cell[] => [
  moved.from,
  moved.to,
  moved.records,
  moved.created,
  moved.changed,
  moved.deleted,
  moved.unchanged,
  moved.kept_here.length,
  moved.refused,
  moved.files,
  moved.files_missing,
];

const refusedOf = ({ to, refused, refused_records: listed }: MovedCollection): Cell[][] => [
  ...listed.map(({ id, reasons }): Cell[] => [
    to,
    { code: id },
    Object.entries(reasons)
      .map(([at, why]) => `${at}: ${why}`)
      .join('; '),
  ]),
  ...(refused > listed.length ? [[to, '', `and ${refused - listed.length} more`]] : []),
];

const notesOf = ({ notes }: MoveReport, wanted: MoveReport['notes'][number]['kind']): Cell[][] =>
  notes.flatMap(({ collection, field, kind, text }) => (kind === wanted ? [[collection, field ?? '', text]] : []));

/** A titled table; nothing without rows. */
function section(title: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th>${escaped(text)}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${shown(cell)}</td>`).join('')}</tr>`).join('\n');
  return `<h2>${escaped(title)}</h2>\n<table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

const shown = (cell: Cell): string =>
  typeof cell === 'object' ? `<code>${escaped(cell.code)}</code>` : escaped(String(cell));

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
