import assert from 'node:assert/strict';
import type { BusReader } from '../harness/clients/bus-reader.ts';
import { eventually } from '../harness/eventually.ts';
import { at, textAt } from '../harness/json.ts';
import type { Server } from '../harness/servers/server.ts';
import type { Stack } from '../harness/stacks/stack.ts';

const writerCount = 6;
/** More writes than happen in the second after which writes reach the disk. */
const enough = 600;

/** Kills the database during writes to a relaxed collection, and checks that each writer lost only its last records. */
export async function killDuringRelaxedWrites(stack: Stack, postgres: Server, bus: BusReader): Promise<void> {
  const admin = await stack.admin();
  const fields = [
    { name: 'writer', type: 'number' },
    { name: 'n', type: 'number' },
  ];
  await admin.post('/api/v1/collections', {
    name: 'samples',
    type: 'base',
    fields,
    create_rule: null,
    list_rule: null,
    durability: 'relaxed',
  });
  let answered = 0;
  let killing: Promise<void> | undefined;
  const write = async (writer: number): Promise<void> => {
    for (let n = 1; ; n += 1) {
      const answer = await stack.guest.send('POST', '/api/v1/samples', { body: { writer, n } });
      if (answer.status !== 201) return;
      answered += 1;
      if (answered === enough) killing = postgres.kill();
    }
  };
  await Promise.all(Array.from({ length: writerCount }, (_, writer) => write(writer)));
  await killing;
  await postgres.start();
  const rows = await eventually('the records are read', async () => {
    const first = await stack.guest.get('/api/v1/samples?perPage=1000');
    const rest = await stack.guest.get('/api/v1/samples?perPage=1000&page=2');
    return (
      first.status === 200 && rest.status === 200 && [first, rest].flatMap(({ json }) => at(json, 'data') as Row[])
    );
  });
  assert.ok(rows.length > 0, 'some writes had reached the disk');
  for (let writer = 0; writer < writerCount; writer += 1) {
    const numbers = rows.filter((row) => row.writer === writer).map(({ n }) => n);
    assert.deepEqual(
      numbers.sort((a, b) => a - b),
      Array.from({ length: numbers.length }, (_, index) => index + 1),
      `records of writer ${writer}`,
    );
  }
  const published = () => new Set(bus.events.map(({ body }) => at(body, 'data.record.id')));
  await eventually('every record has its event', () => {
    const ids = published();
    return rows.every(({ id }) => ids.has(id));
  });
  const kept = new Set(rows.map(({ id }) => id));
  const samples = bus.events.filter(({ subject }) => subject === 'events.samples.create');
  assert.deepEqual(
    samples.map(({ body }) => textAt(body, 'data.record.id')).filter((id) => !kept.has(id)),
    [],
    'events of records that the crash has undone',
  );
}

interface Row {
  readonly id: string;
  readonly writer: number;
  readonly n: number;
}
