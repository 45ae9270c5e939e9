import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Client } from '../../harness/clients/client.ts';
import { random } from './random.ts';

/** How many writes were answered with success, and how many were refused or lost. */
export interface Written {
  ok: number;
  failed: number;
}

interface RandomWriter {
  readonly client: Client;
  /** Users who may own tasks, by id. */
  readonly owners: readonly string[];
  readonly isOver: () => boolean;
  readonly written: Written;
}

/** The maximum time between two writes: each write reaches every follower of its collection. */
const longestPauseMs = 60;

/** Each writer keeps at most this many records, so that a list page shows all writers' records. */
const maxRecords = 20;

/**
 * Writes notes or tasks at random until it is over. A write whose answer is lost may have happened. So the writer
 * chooses the ids, and forgets a record only when the product says that it does not exist: no record is left over after
 * an hour.
 */
export async function writeAtRandom({ client, owners, isOver, written }: RandomWriter): Promise<void> {
  const collection = random(2) === 0 ? 'notes' : 'tasks';
  const path = `/api/v1/${collection}`;
  const body = () =>
    collection === 'notes'
      ? { text: `n${random(1e6)}`, rank: random(100) }
      : { title: `t${random(1e6)}`, owner: owners[random(owners.length)] };
  const ids: string[] = [];

  async function writeOnce(): Promise<number> {
    const kind = kindOf(ids.length);
    if (kind === 'create') {
      const id = randomUUID();
      ids.push(id);
      return (await client.send('PUT', `${path}/${id}`, { body: body() })).status;
    }
    const place = random(ids.length);
    const { status } =
      kind === 'update'
        ? await client.send('PATCH', `${path}/${ids[place]}`, { body: body() })
        : await client.send('DELETE', `${path}/${ids[place]}`);
    if (status === 404 || status === 204) ids.splice(place, 1);
    return status;
  }

  while (!isOver()) {
    try {
      if ((await writeOnce()) < 300) written.ok += 1;
      else written.failed += 1;
    } catch {
      written.failed += 1;
    }
    await wait(random(longestPauseMs));
  }
}

/** Chooses a write: creates if there are few records, deletes if there are too many. */
function kindOf(count: number): 'create' | 'update' | 'delete' {
  if (count < maxRecords / 2) return 'create';
  if (count >= maxRecords) return 'delete';
  return (['update', 'update', 'create', 'delete'] as const)[random(4)] ?? 'update';
}
