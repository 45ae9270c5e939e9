import type { Collection } from '@recordbus/schema';
import fc from 'fast-check';
import type { Scope } from '../src/resolve/scope.ts';
import type { Situation } from './evaluator.ts';
import type { Language } from './expression-arbitrary.ts';
import { authArbitrary, requestArbitrary } from './request-arbitrary.ts';
import { fullSight, type Sight, sightOf } from './sight.ts';
import type { Space } from './space.ts';
import { findRequestWords, findWords, type Words } from './vocabulary.ts';
import { schemaOf, type World } from './world.ts';

/** The scope and the situation in which a text is compiled and evaluated. */
export interface Trial {
  readonly scope: Scope;
  /** Everything that an evaluation needs but the record. */
  readonly situation: Omit<Situation, 'record'>;
  readonly sight: Sight;
}

/** Trials over any collection in a space, each with a value that is made from its names. */
export function trialsOf<T>(
  space: Space,
  audience: Scope['audience'],
  make: (language: Language, collection: string) => fc.Arbitrary<T>,
): fc.Arbitrary<Trial & { readonly made: T }> {
  const accounts = Object.values(space.collections).filter(({ type }) => type === 'auth');
  const known = new Map<string, fc.Arbitrary<T>>();
  const start = fc.record({
    name: fc.constantFrom(...Object.keys(space.collections)),
    rules: fc.nat(space.ruled.length - 1),
    auth: audience === 'admin' ? fc.constant(undefined) : authArbitrary(accounts),
    // A few expressions name what the caller does not see.
    namesAll: fc.nat(4).map((draw) => draw === 0),
  });
  return start.chain(({ name, rules, auth, namesAll }) => {
    const collections = space.ruled[rules] ?? space.collections;
    const collection = collectionIn(collections, name);
    const caller = auth?.collection === undefined ? undefined : collections[auth.collection];
    const world = { collections, records: space.records };
    const sight = audience === 'client' ? sightOf(world, caller) : fullSight;
    const key = [name, rules, caller?.name, namesAll].join(' ');
    const making =
      known.get(key) ?? make(languageOf(collection, world, { sight: namesAll ? fullSight : sight, audience }), name);
    known.set(key, making);
    const scope = { collection, schema: schemaOf(collections), audience, caller };
    return fc.tuple(making, requestArbitrary(collection, auth)).map(([made, request]) => {
      const situation = { world, collection, request, audience };
      return { made, scope, situation, sight };
    });
  });
}

/** A collection with that name. */
function collectionIn(collections: World['collections'], name: string): Collection {
  const found = collections[name];
  if (!found) throw new Error(`no collection ${name}`);
  return found;
}

function languageOf(
  collection: Collection,
  { collections }: World,
  { sight, audience }: { readonly sight: Sight; readonly audience: Scope['audience'] },
): Language {
  const known = new Map<string, Words>();
  return {
    words(name) {
      const maxHops = name === collection.name ? 3 : 1;
      const found = known.get(name) ?? findWords(collectionIn(collections, name), collections, { sight, maxHops });
      known.set(name, found);
      return found;
    },
    request: audience === 'rule' ? findRequestWords(collection, collections, { sight, readsBody: true }) : undefined,
    related: Object.values(collections)
      .filter(sight.seesRecords)
      .map(({ name }) => name),
  };
}

/** Describes a failed trial in a message. */
export function describeTrial({ seed }: Space, { scope, situation }: Trial): string {
  const { request, world } = situation;
  const rules = Object.values(world.collections).map(({ name, rules: { view }, fields }) => ({
    [name]: view,
    ...Object.fromEntries(
      fields.map(({ name, type, options, viewRule = null }) => [
        `${name} ${options.multiple ? 'multiple ' : ''}${type}`,
        viewRule,
      ]),
    ),
  }));
  const values = { ...request, query: request.query('q'), header: request.header('h') };
  return `${scope.collection.name} of schema ${seed}: ${JSON.stringify(values)} ${JSON.stringify(rules)}`;
}
