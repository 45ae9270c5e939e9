import { importLines } from '../imports/import-lines.ts';
import { liveLines } from '../live/live-lines.ts';
import { moveLines } from '../moves/move-lines.ts';
import type { RowResult, SideResult } from '../rows/measure-row.ts';
import { titleOf } from '../rows/row.ts';
import type { WebhookResults } from '../webhooks/measure-webhooks.ts';
import { besideLines } from './beside-lines.ts';
import { allFailures, type Result } from './result.ts';
import { type Style, table } from './table.ts';

/** Formats the result as plain text or Markdown. */
export function present(result: Result, style: Style): string {
  const { machine, conditions, rows, statements, beside, webhooks, imports, move, live, memory } = result;
  const paragraph = (lines: readonly string[]) =>
    lines.map((line) => (style === 'markdown' ? `- ${line}` : `  ${line}`));
  const create = rows.find(({ row }) => row.name === 'create');
  const failures = allFailures(result);
  const parts = [
    failures.length ? ["NOT ALL REQUESTS SUCCEEDED, so these rows' figures mean little:", ...paragraph(failures)] : [],
    paragraph([...machine, ...conditions]),
    rows.length ? table(rowHead, rows.map(rowCells), style) : [],
    create && statements ? paragraph([sameStatementLine(create, statements), outboxLine(statements)]) : [],
    ...(beside ? besideLines(beside, style) : []),
    webhooks ? table(paceHead, webhooks.paced.map(paceCells), style) : [],
    webhooks ? paragraph([besideHangingLine(webhooks), burstLine(webhooks)]) : [],
    imports ? paragraph(importLines(imports)) : [],
    move ? paragraph(moveLines(move)) : [],
    live ? paragraph(liveLines(live)) : [],
    paragraph([memoryLine(memory)]),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0);

const bareHead = ['bare/s', 'p50 ms', 'p99', 'CPU µs', 'all CPU µs', 'ratio'];
const rowHead = ['row', 'requests/s', 'p50 ms', 'p95', 'p99', 'CPU µs', 'all CPU µs', ...bareHead];

function rowCells({ row, product, bare }: RowResult): string[] {
  const hasFailed = product.failures.length + (bare?.failures.length ?? 0) > 0;
  const cpu = ({ cpuUs, allCpuUs }: SideResult) =>
    [cpuUs, allCpuUs].map((time) => (time === undefined ? '' : whole(time)));
  const title = titleOf(row);
  return [
    hasFailed ? `${title} (FAILURES, see above)` : title,
    whole(product.requestsPerSec),
    ms(product.p50),
    ms(product.p95),
    ms(product.p99),
    ...cpu(product),
    ...(bare
      ? [
          whole(bare.requestsPerSec),
          ms(bare.p50),
          ms(bare.p99),
          ...cpu(bare),
          (product.requestsPerSec / bare.requestsPerSec).toFixed(2),
        ]
      : bareHead.map(() => '')),
  ];
}

type Statements = NonNullable<Result['statements']>;

const sameStatementLine = ({ product }: RowResult, { withEventPerSec }: Statements): string =>
  `The create statement, row and event, run by the driver on 20 connections without HTTP: ` +
  `${whole(withEventPerSec)}/s; the product's create is ${(product.requestsPerSec / withEventPerSec).toFixed(2)} of that.`;

const outboxLine = ({ withEventPerSec, withoutEventPerSec }: Statements): string =>
  `Without the event it is ${whole(withoutEventPerSec)}/s: the outbox costs a create ` +
  `${whole(100 * (1 - withEventPerSec / withoutEventPerSec))} % of what the database can do.`;

const paceHead = ['webhooks: creates/s', 'delivered/s', 'p50 ms', 'p95', 'p99'];

const paceCells = (paced: WebhookResults['paced'][number]): string[] => [
  `${paced.perSec}${paced.failures.length ? ' (FAILURES, see above)' : ''}`,
  whole(paced.deliveredPerSec),
  ms(paced.p50),
  ms(paced.p95),
  ms(paced.p99),
];

const besideHangingLine = ({ besideHanging, hangingCount }: WebhookResults): string =>
  `While ${hangingCount} other webhooks' receivers hang, at ${besideHanging.perSec} creates/s: ` +
  `p50 ${ms(besideHanging.p50)} ms, p95 ${ms(besideHanging.p95)} ms, p99 ${ms(besideHanging.p99)} ms.`;

function burstLine({ burst }: WebhookResults): string {
  const { count, createdInSec, drainedInSec, drainPerSec } = burst;
  const after = Number.isNaN(drainPerSec) ? '' : `, ${whole(drainPerSec)}/s once the creates were over`;
  return (
    `A burst of ${whole(count)} creates: made in ${createdInSec.toFixed(1)} s, all delivered ` +
    `${drainedInSec.toFixed(1)} s after the first (${whole(count / drainedInSec)}/s overall${after}).`
  );
}

const memoryLine = ({ idleMb, afterMb }: Result['memory']): string =>
  idleMb === undefined || afterMb === undefined
    ? 'Memory: unknown on this platform.'
    : `Memory of the product's process (all services, without PostgreSQL and nats-server): ${idleMb} MB idle after the start, ${afterMb} MB at the end.`;
