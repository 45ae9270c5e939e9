import { createDirectory, type TranslatedRule, translateRule } from '../../src/rules/index.ts';
import type { Ours } from './ours.ts';
import type { Random } from './random.ts';
import { createRule, type RuleTree, ruleText, smallerTrees } from './random-rule.ts';
import type { Caller, Theirs, Write } from './theirs.ts';
import { createValue, type World, type WorldCollection } from './world.ts';

/** The same world in both servers. */
export interface Both {
  readonly world: World;
  readonly theirs: Theirs;
  readonly ours: Ours;
}

export type Slot = 'list' | 'create' | 'update';

interface Attempt {
  readonly collection: WorldCollection;
  readonly slot: Slot;
  readonly tree: RuleTree;
  readonly writes: readonly Write[];
}

export interface Difference {
  readonly rule: TranslatedRule;
  readonly caller: Caller;
  readonly write: Write | undefined;
  readonly theirs: unknown;
  readonly ours: unknown;
}

export interface Counts {
  /** Rules that PocketBase does not take. */
  refused: number;
  exact: number;
  narrower: number;
  locked: number;
  answers: number;
  /** Exact rules that admitted something, but not everything. */
  telling: number;
  readonly locks: Map<string, number>;
}

export const createCounts = (): Counts => ({
  refused: 0,
  exact: 0,
  narrower: 0,
  locked: 0,
  answers: 0,
  telling: 0,
  locks: new Map(),
});

/** Makes a random rule, and asks both servers. Returns the difference, made as small as possible. */
export async function compareOne(
  both: Both,
  slot: Slot,
  random: Random,
  counts: Counts,
): Promise<Difference | undefined> {
  const collections = both.world.collections.filter(({ type }) => slot === 'list' || type === 'base');
  const collection = random.pick(collections);
  const hasBody = slot !== 'list';
  const tree = createRule({ world: both.world, collection, random, hasBody, isCreate: slot === 'create' });
  const writes = hasBody ? Array.from({ length: 3 }, () => createWrite(both.world, collection, slot, random)) : [];
  const attempt = { collection, slot, tree, writes };
  const difference = await ask(both, attempt, counts);
  return difference && shrink(both, attempt, difference);
}

function createWrite(world: World, collection: WorldCollection, action: 'create' | 'update', random: Random): Write {
  const ids = (name: string) => (world.records[name] ?? []).map(({ id }) => id);
  const picked = random.some(collection.fields, action === 'create' ? 0.8 : 0.5);
  // A create without a required field fails whatever the rule says.
  const given = collection.fields.filter((field) => picked.includes(field) || (action === 'create' && field.required));
  const stored = world.records[collection.name]?.[random.below(6)];
  const body = Object.fromEntries(
    given.map((field) => [field.name, random.chance(0.3) ? stored?.[field.name] : createValue(field, ids, random)]),
  );
  return { action, id: stored?.id ?? '', body };
}

async function shrink(both: Both, attempt: Attempt, difference: Difference): Promise<Difference> {
  for (const tree of smallerTrees(attempt.tree)) {
    const smaller = await ask(both, { ...attempt, tree }, createCounts());
    if (smaller) return shrink(both, { ...attempt, tree }, smaller);
  }
  return difference;
}

async function ask(
  both: Both,
  { collection, slot, tree, writes }: Attempt,
  counts: Counts,
): Promise<Difference | undefined> {
  const { world, theirs } = both;
  const text = ruleText(tree);
  const definition = theirs.collections.find(({ name }) => name === collection.name);
  if (!definition) throw new Error(`no collection ${collection.name}`);
  const rule = translateRule(text, slot, definition, createDirectory(theirs.collections));
  if (rule.result === 'locked') {
    counts.locked += 1;
    counts.locks.set(rule.why ?? '', (counts.locks.get(rule.why ?? '') ?? 0) + 1);
    return undefined;
  }
  if (await theirs.setRule(collection.name, `${slot}Rule`, text)) {
    counts.refused += 1;
    return undefined;
  }
  counts[rule.result] += 1;
  const callers: Caller[] = [
    null,
    ...world.collections
      .filter(({ type }) => type === 'auth')
      .flatMap(({ name }) => (world.records[name] ?? []).slice(0, 4).map(({ id }) => ({ collection: name, id }))),
  ];
  let [admitted, asked] = [0, 0];
  for (const caller of callers) {
    const answers =
      slot === 'list'
        ? [await askForList(both, collection.name, rule, caller)]
        : await Promise.all(writes.map((write) => askForWrite(both, collection.name, rule, caller, write)));
    for (const answer of answers) {
      counts.answers += 1;
      asked += answer.of;
      admitted += answer.admitted;
      if (!answer.isFine) return { rule, caller, write: answer.write, theirs: answer.theirs, ours: answer.ours };
    }
  }
  if (rule.result === 'exact' && admitted > 0 && admitted < asked) counts.telling += 1;
  return undefined;
}

async function askForList(
  { world, theirs, ours }: Both,
  collection: string,
  { to, result }: TranslatedRule,
  caller: Caller,
) {
  const [their, our] = await Promise.all([theirs.list(collection, caller), ours.list(collection, to, caller)]);
  const isWider = our.some((id) => !their.includes(id));
  const isFine = !isWider && (result !== 'exact' || our.length === their.length);
  return {
    isFine,
    theirs: their,
    ours: our,
    write: undefined,
    admitted: our.length,
    of: world.records[collection]?.length ?? 0,
  };
}

async function askForWrite(
  { theirs, ours }: Both,
  collection: string,
  { to, result }: TranslatedRule,
  caller: Caller,
  write: Write,
) {
  const [their, our] = await Promise.all([
    theirs.admits(collection, write, caller),
    ours.admits(collection, to, write, caller),
  ]);
  const isFine = our === their || (their && result === 'narrower');
  return { isFine, theirs: their, ours: our, write, admitted: Number(our), of: 1 };
}

/** Writes a difference as a text from which it can be repeated. */
export function describeDifference(
  { rule, caller, write, theirs, ours }: Difference,
  { world }: Both,
  seed: number,
): string {
  return [
    `seed ${seed}: ${rule.collection}.${rule.rule} (${rule.result})`,
    `  PocketBase: ${rule.from}`,
    `  ours:       ${rule.to}`,
    `  ${caller ? `${caller.collection}/${caller.id}` : 'a guest'}${write ? ` ${JSON.stringify(write)}` : ''}`,
    `  PocketBase admits ${JSON.stringify(theirs)}, ours ${JSON.stringify(ours)}`,
    ...Object.entries(world.records).flatMap(([name, records]) =>
      records.map((record) => `    ${name} ${JSON.stringify(record)}`),
    ),
  ].join('\n');
}
