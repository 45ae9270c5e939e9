import type { MomentName } from '../language/ast.ts';

const nowSec = 'floor(extract(epoch from now()))::bigint';
const dayStartSec = '(floor(extract(epoch from now()) / 86400) * 86400)::bigint';

const startOf = (unit: 'month' | 'year'): string => `extract(epoch from date_trunc('${unit}', now(), 'UTC'))::bigint`;

/** The last second before the next month or year. It is computed in UTC, whatever the session's time zone. */
const endOf = (unit: 'month' | 'year'): string =>
  `(extract(epoch from (date_trunc('${unit}', now() at time zone 'UTC') + interval '1 ${unit}'))::bigint - 1)`;

const daySec = 86_400;

/** Times by the database's clock, which also sets `created` and `updated`; days are in UTC. */
const momentsSql: Readonly<Record<MomentName, string>> = {
  now: nowSec,
  todayStart: dayStartSec,
  todayEnd: `(${dayStartSec} + 86399)`,
  yesterday: `(${nowSec} - ${daySec})`,
  tomorrow: `(${nowSec} + ${daySec})`,
  monthStart: startOf('month'),
  monthEnd: endOf('month'),
  yearStart: startOf('year'),
  yearEnd: endOf('year'),
};

/** Compiles a moment, in unix seconds. */
export function momentSql(name: MomentName, shiftSec: number): string {
  const sql = momentsSql[name];
  if (shiftSec === 0) return sql;
  return `(${sql} ${shiftSec < 0 ? '-' : '+'} ${Math.abs(shiftSec)})`;
}
