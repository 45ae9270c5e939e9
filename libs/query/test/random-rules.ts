import type { Collection, Rule } from '@recordbus/schema';
import fc from 'fast-check';
import { QueryError } from '../src/index.ts';
import { checkRule } from '../src/rules/check-rule.ts';
import { expressionArbitrary } from './expression-arbitrary.ts';
import { print } from './print.ts';
import { fullSight } from './sight.ts';
import { findRequestWords, findWords, type Words } from './vocabulary.ts';
import { schemaOf, type World } from './world.ts';

type Collections = World['collections'];

/** The collections with random view rules for their records and fields. */
export function rulesArbitrary(collections: Collections): fc.Arbitrary<Collections> {
  const all = Object.values(collections);
  const rules = ruleArbitraries(collections);
  const ruled = all.map((collection) => {
    const rule = rules(collection);
    const fieldRules = fc.tuple(...collection.fields.map(() => rule));
    return fc.tuple(rule, fieldRules).map(([view, viewRules]): [string, Collection] => [
      collection.name,
      {
        ...collection,
        rules: { ...collection.rules, view },
        // A view's fields have no rules.
        fields:
          collection.type === 'view'
            ? collection.fields
            : collection.fields.map((field, index) => ({ ...field, viewRule: viewRules[index] ?? null })),
      },
    ]);
  });
  return fc.tuple(...ruled).map((entries) => Object.fromEntries(entries));
}

function ruleArbitraries(collections: Collections) {
  const known = new Map<string, Words>();
  const words = (name: string): Words => {
    const collection = collections[name];
    if (!collection) throw new Error(`no collection ${name}`);
    const found = known.get(name) ?? findWords(collection, collections, { sight: fullSight, maxHops: 1 });
    known.set(name, found);
    return found;
  };
  const isSaved = (collection: Collection) => (rule: string) => isAccepted(rule, collection, collections);
  return (collection: Collection): fc.Arbitrary<Rule> => {
    const request = findRequestWords(collection, collections, { sight: fullSight, readsBody: false });
    const language = { words, request, related: Object.keys(collections) };
    const expression = expressionArbitrary(language, collection.name, 1).map(print);
    return fc.oneof(
      { weight: 5, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constant('') },
      { weight: 3, arbitrary: fc.constantFrom(...commonRules(collection)).filter(isSaved(collection)) },
      { weight: 3, arbitrary: expression.filter(isSaved(collection)) },
    );
  };
}

/** Rules that hold for some callers, and for some records. */
function commonRules({ fields }: Collection): string[] {
  const ofCaller = fields
    .filter(({ collection }) => collection !== undefined)
    .map(({ name, options }) => (options.multiple ? `@request.auth.id in ${name}` : `${name} = @request.auth.id`));
  const ofRecord: string[] = fields.flatMap(({ name, type }) => {
    if (type === 'bool') return [`${name} = true`];
    if (type === 'number') return [`not (${name} > 0)`];
    return type === 'text' ? [`${name}:lower ~ "a"`] : [];
  });
  return [
    ...['@request.auth.id != ""', 'id = @request.auth.id', 'created > 0', 'id in ("u0", "p1", "p2", "T3", "s0", "n4")'],
    ...[
      '@request.auth.type = "admin"',
      '@request.auth.collection = "users"',
      'not (@request.auth.collection = "users")',
    ],
    ...ofCaller,
    ...ofRecord,
  ];
}

function isAccepted(rule: string, collection: Collection, collections: Collections): boolean {
  const accounts = Object.values(collections).filter(({ type }) => type === 'auth');
  try {
    checkRule(rule, { collection, schema: schemaOf(collections), accounts });
    return true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}
