import { chosenId } from './record-rows.ts';
import type { Row } from './row.ts';
import type { Cast } from './side.ts';

/** Dates as apps send them, and texts that are none. */
const dateTexts: readonly string[] = [
  '2026-01-02 03:04:05.000Z',
  '2026-01-02 03:04:05',
  '2026-01-02T03:04:05Z',
  '2026-01-02T03:04:05',
  '2026-01-02T23:04:05-0200',
  '2026-01-02 03:04:05 +02:00',
  '2026-01-02 03:04:05 +0200 CEST',
  '2026-01-02',
  '2026-02-30',
  '2026-01-02 24:00:00.000Z',
  '02 Jan 2026',
  'Fri, 02 Jan 2026 03:04:05 GMT',
  'Tue, 06 Jan 2026 03:04:05 +0200',
  'Friday, 02-Jan-26 03:04:05 GMT',
  '02 Jan 26 03:04 +0200',
  '02 Jan 69 03:04 GMT',
  'Fri Jan  2 03:04:05 2026',
  'Fri Jan  2 03:04:05 UTC 2026',
  'Fri Jan 02 03:04:05 +0200 2026',
  'Fri Jan 02 2026 03:04:05 GMT+0200 (CEST)',
  '02/01/2026',
  'January 2, 2026',
  '2026',
  '0',
  '1767225600',
  'tomorrow',
  '9999-12-31 23:59:59.000Z',
  '0001-01-01 00:00:00.000Z',
];

/** Writes each value into the field, and returns what the record has then, or the refusal's status. */
async function readBack({ alice }: Cast, member: string, values: readonly unknown[]): Promise<unknown[]> {
  const read: unknown[] = [];
  const field = member.replace('+', '');
  for (const value of values) {
    const written = alice.collection('posts').update(chosenId, { [member]: value });
    const [now] = await Promise.allSettled([written]);
    read.push([value, now.status === 'fulfilled' ? now.value[field] : now.reason.status]);
  }
  return read;
}

const lists = ['["a","c"]', '[]', '["a"', ['a', 'a', null], { a: 1 }, '', '["a",null]'];

/** Values in other forms than their fields'. They follow the rows that create the record. */
export const valueRows: readonly Row[] = [
  { name: 'dates in other forms', run: (cast) => readBack(cast, 'd', dateTexts) },
  {
    name: 'numbers in other forms',
    run: (cast) =>
      readBack(cast, 'n', [' 7 ', '0x10', '1e1', '+3', '.5', '5.', '5,5', 'five', '', true, false, [5], {}]),
  },
  { name: 'lists in other forms', run: (cast) => readBack(cast, 'ss', lists) },
  { name: 'added lists in other forms', run: (cast) => readBack(cast, 'ss+', lists) },
  { name: 'one of a list', run: (cast) => readBack(cast, 's', ['["a","b"]', ['a', 'b'], {}]) },
  { name: 'texts in other forms', run: (cast) => readBack(cast, 'title', [['x'], { x: 1 }, 5, true]) },
  {
    name: 'bools in other forms',
    run: (cast) => readBack(cast, 'b', [2, -1, 0, 'T', 'yes', '1', [], {}, null]),
  },
];
