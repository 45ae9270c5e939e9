import type { Answer, RecordsFixture, Sent } from '../records-fixture.ts';
import { type Draft, type Name, names, valuesOf } from './batch-model.ts';

interface Batch {
  readonly as: 'guest' | 'admin';
  readonly drafts: readonly Draft[];
}

/** What operations led to: their results, the last one's refusal, and each operation's events. */
interface Outcome {
  readonly results: readonly unknown[];
  readonly refusal: unknown;
  readonly events: readonly unknown[];
}

/** Two equal sets of collections. Operations run as a batch in one, and one after the other in the other. */
export interface Twins {
  run(batch: Batch): Promise<{ readonly alone: Outcome; readonly together: Outcome }>;
  /** All records and their histories. */
  state(prefix: Prefix): Promise<unknown>;
}

type Prefix = 'a_' | 'b_';

/** A record that both twins have. */
interface Twin {
  readonly name: Name;
  readonly ids: Record<Prefix, string>;
}

interface Operation {
  readonly draft: Draft;
  /** The id that the client chooses. */
  readonly chosen: string | undefined;
  /** The target: an existing record, or an earlier operation's result. */
  readonly target: Twin | number | undefined;
}

const chosenIds = 12;

/** Creates empty twins. */
export function createTwins({ send, takeEvents }: RecordsFixture): Twins {
  const twins: Twin[] = [];

  /** Picks a record in a collection: an existing one, or one that an earlier operation creates. */
  function pick(name: Name, number: number, earlier: readonly Operation[]): Twin | number | undefined {
    const made = earlier.flatMap(({ draft }, index) => (draft.name === name && draft.verb !== 'delete' ? [index] : []));
    const there = twins.filter((twin) => twin.name === name).slice(-8);
    const all = [...there, ...made];
    return all[number % Math.max(all.length, 1)];
  }

  const operationsOf = (drafts: readonly Draft[]): Operation[] => {
    const operations: Operation[] = [];
    for (const draft of drafts) {
      const isChosen = draft.verb === 'place' || draft.verb === 'upsert';
      const chosen = isChosen ? `${draft.name}${draft.target % chosenIds}` : undefined;
      operations.push({ draft, chosen, target: isChosen ? undefined : pick(draft.name, draft.target, operations) });
    }
    return operations;
  };

  const idOf = (target: Operation['target'], prefix: Prefix, made: readonly string[]): unknown =>
    target === undefined
      ? 'nothing'
      : typeof target === 'number'
        ? prefix === 'a_'
          ? { $ref: `o${target}.id` }
          : made[target]
        : target.ids[prefix];

  const bodyOf = (
    operation: Operation,
    index: number,
    all: readonly Operation[],
    prefix: Prefix,
    made: readonly string[],
  ) => valuesOf(operation.draft, (name, number) => idOf(pick(name, number, all.slice(0, index)), prefix, made));

  /** The records' ETags before the batch. */
  async function etagsOf(operations: readonly Operation[], prefix: Prefix): Promise<(string | undefined)[]> {
    const etags: (string | undefined)[] = [];
    for (const { draft, target, chosen } of operations) {
      const id = chosen ?? (typeof target === 'object' ? target.ids[prefix] : undefined);
      const path = `/api/v1/records/${prefix}${draft.name}/${id}`;
      const current = async () => (await send('GET', path, { as: 'admin' })).headers.get('etag') ?? 'W/"1"';
      const { condition } = draft;
      etags.push(
        condition === 'any'
          ? '*'
          : condition === 'stale'
            ? 'W/"1"'
            : condition === 'current'
              ? await current()
              : undefined,
      );
    }
    return etags;
  }

  async function runAlone({ as }: Batch, operations: readonly Operation[]): Promise<Outcome & { made: string[] }> {
    const prefix = 'b_';
    const etags = await etagsOf(operations, prefix);
    const made: string[] = [];
    const results: unknown[] = [];
    const events: unknown[] = [];
    for (const [index, operation] of operations.entries()) {
      const { draft, target, chosen } = operation;
      const path = `/api/v1/records/${prefix}${draft.name}`;
      const body = bodyOf(operation, index, operations, prefix, made);
      const ifMatch = etags[index];
      const headers = ifMatch === undefined ? undefined : { 'if-match': ifMatch };
      const at = `${path}/${chosen ?? idOf(target, prefix, made)}`;
      const sendAs = (method: string, to: string, sent: Sent = {}) =>
        send(method, to, { as, ...(headers && { headers }), ...sent });
      const answer = await {
        create: () => send('POST', path, { as, body }),
        place: () => send('PUT', at, { as, body, headers: { 'if-none-match': '*' } }),
        update: () => sendAs('PATCH', at, { body }),
        upsert: () => sendAs('PUT', at, { body }),
        upsertOn: () => sendAs('PUT', `${path}?on=${onOf(draft)}`, { body }),
        delete: () => sendAs('DELETE', at),
      }[draft.verb]();
      const written = await takeEvents();
      if (answer.status >= 300) return { results, events, made, refusal: refusalOf(answer, index) };
      made.push(answer.record?.id ?? '');
      results.push({ status: answer.status, data: answer.json.data });
      events.push(...written.map((event) => ({ index, ...shownEvent(event) })));
    }
    return { results, events, made, refusal: undefined };
  }

  async function runTogether({ as }: Batch, operations: readonly Operation[], count: number) {
    const prefix = 'a_';
    const etags = await etagsOf(operations, prefix);
    const sent = operations.slice(0, count).map((operation, index) => {
      const { draft, target, chosen } = operation;
      const hasTarget = ['update', 'delete'].includes(draft.verb);
      return {
        op: draft.verb === 'place' ? 'create' : draft.verb === 'upsertOn' ? 'upsert' : draft.verb,
        collection: `${prefix}${draft.name}`,
        id: chosen ?? (hasTarget ? idOf(target, prefix, []) : undefined),
        ...(draft.verb === 'upsertOn' && { on: onOf(draft) }),
        ...(draft.verb !== 'delete' && { data: bodyOf(operation, index, operations, prefix, []) }),
        ...(!['create', 'place'].includes(draft.verb) && { if_match: etags[index] }),
        as: `o${index}`,
      };
    });
    const answer = await send('POST', '/api/v1/batch', { as, body: { operations: sent } });
    const written = await takeEvents();
    return { answer, written };
  }

  async function state(prefix: Prefix): Promise<unknown> {
    const rows: unknown[] = [];
    for (const name of names) {
      const list = await send('GET', `/api/v1/records/${prefix}${name}?perPage=1000&sort=id`, { as: 'admin' });
      for (const record of list.rows) {
        const history = await send('GET', `/api/v1/records/${prefix}${name}/${record.id}/history?perPage=1000`, {
          as: 'admin',
        });
        rows.push({ name, record, history: versionsOf(history) });
      }
    }
    return sortedTexts(neutral(rows, prefix));
  }

  /** Replaces the differences between the twins: names, ids and times. */
  function neutral(value: unknown, prefix: Prefix, more: readonly Twin[] = []): unknown {
    let text = JSON.stringify(value) ?? 'null';
    for (const [index, { ids }] of [...twins, ...more].entries())
      if (ids[prefix]) text = text.replaceAll(`"${ids[prefix]}"`, `"#${index}"`);
    return JSON.parse(
      text
        .replaceAll(prefix, '')
        .replace(/"(created|updated|seen|at)":(\d+)/g, '"$1":0')
        .replace(/W\/\\"[\d.]+\\"/g, 'etag')
        // Whether an update's time differs depends on the clock.
        .replace(/,"seen"(?=[\],])|"seen",|"seen"(?=\])/g, ''),
    );
  }

  return {
    state,
    async run(batch) {
      await takeEvents();
      const operations = operationsOf(batch.drafts);
      const alone = await runAlone(batch, operations);
      const count = alone.results.length;
      // A refused batch does nothing, so the operations before the refused one run as a separate batch.
      const refused = alone.refusal === undefined ? undefined : await runTogether(batch, operations, operations.length);
      const refusal = refused && { ...refusalOf(refused.answer), events: refused.written.length };
      const { answer, written } = await runTogether(batch, operations, count);
      const rows = answer.json.data as readonly { status: number; data: { id: string } | null }[] | undefined;
      const more = alone.made.map((id, index): Twin => {
        const name = operations[index]?.draft.name ?? 'lone';
        return { name, ids: { a_: rows?.[index]?.data?.id ?? '', b_: id } };
      });
      const together = {
        results: rows?.map(({ status, data }) => ({ status, data })) ?? answer.text,
        refusal,
        events: written.map(({ batch: place, ...event }) => ({ index: place?.index, ...shownEvent(event) })),
      };
      const seen = {
        alone: neutral(
          { ...alone, made: undefined, refusal: alone.refusal && { ...alone.refusal, events: 0 } },
          'b_',
          more,
        ),
        together: neutral(together, 'a_', more),
      };
      for (const twin of more) if (twin.ids.a_ && !twins.some(({ ids }) => ids.b_ === twin.ids.b_)) twins.push(twin);
      return { alone: ordered(seen.alone as Outcome), together: ordered(seen.together as Outcome) };
    },
  };
}

const onOf = ({ name }: Draft): string => (name === 'teams' ? 'code' : name === 'posts' ? 'slug' : 'text');

function refusalOf({ status, json: { error, code, details } }: Answer, index?: number) {
  const { index: given, etag: _, ...rest } = details ?? {};
  return { status, error, code, index: index ?? given, details: rest };
}

const shownEvent = ({ event, data, actor }: { event: string; data: unknown; actor: unknown }) => ({
  event,
  data,
  actor,
});

/** The writes in a history; none if the collection keeps no history. */
function versionsOf({ status, json }: Answer): unknown {
  if (status !== 200) return status;
  const { data } = json.data as { data: readonly { op: string; snapshot: unknown }[] };
  return data.map(({ op, snapshot }) => ({ op, snapshot }));
}

/** Events from the same operation have no order, except one record's. */
const ordered = (outcome: Outcome): Outcome => ({ ...outcome, events: sortedTexts(outcome.events) });

const sortedTexts = (rows: unknown) => (rows as unknown[]).map((row) => JSON.stringify(row)).sort();
