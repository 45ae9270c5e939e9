import type { QuerySchema } from '@recordbus/query';
import type { Principal } from '@recordbus/request/context';
import { type RecordRight, rightsOf } from '@recordbus/request/key-rights';
import type { Collection, Field, Rule } from '@recordbus/schema';

/** A collection's versions for keys, by their rights. */
const made = new WeakMap<Collection, Map<string, Collection>>();

/** The original behind a key's collection. */
const originals = new WeakMap<Collection, Collection>();

/**
 * Returns a collection with the rules that apply to the caller (keys §5). For a service key, rules that it passes are
 * null, rules that decide about it are unchanged, and without a scope all rules are closed. So everything that follows
 * the rules stays within the scopes: filters, sorts, `exists`, back-relations, expand, aggregates, live changes. Equal
 * rights get the same object.
 */
export function collectionFor(principal: Principal, collection: Collection): Collection {
  if (principal.type !== 'service') return collection;
  const rights = rightsOf(principal.scopes);
  if (rights.isAdmin) return collection;
  const read = rights.recordRight(collection.name, 'read');
  const write = rights.recordRight(collection.name, 'write');
  const remove = rights.recordRight(collection.name, 'delete');
  const key = `${read} ${write} ${remove}`;
  const known = made.get(collection) ?? new Map<string, Collection>();
  made.set(collection, known);
  let seen = known.get(key);
  if (!seen) {
    seen = withRights(collection, { read, write, remove });
    known.set(key, seen);
    originals.set(seen, collection);
  }
  return seen;
}

/** Returns the original collection. */
export const asDefined = (collection: Collection): Collection => originals.get(collection) ?? collection;

/** Returns the collections that the caller's expressions may name. */
export const schemaFor = (principal: Principal, schema: QuerySchema): QuerySchema =>
  principal.type !== 'service'
    ? schema
    : {
        collation: schema.collation,
        ...(schema.isHidden && { isHidden: schema.isHidden }),
        findCollection(name) {
          const found = schema.findCollection(name);
          return found && collectionFor(principal, found);
        },
      };

interface Rights {
  readonly read: RecordRight;
  readonly write: RecordRight;
  readonly remove: RecordRight;
}

const ruleFor = (right: RecordRight, rule: Rule): Rule => (right === 'pass' ? null : right === 'none' ? '' : rule);

function withRights(collection: Collection, { read, write, remove }: Rights): Collection {
  const { rules, fields } = collection;
  return {
    ...collection,
    rules: {
      list: ruleFor(read, rules.list),
      view: ruleFor(read, rules.view),
      create: ruleFor(write, rules.create),
      update: ruleFor(write, rules.update),
      delete: ruleFor(remove, rules.delete),
    },
    fields: fields.map((field) => fieldFor(field, { read, write })),
  };
}

/** Field and file rules apply only if rules decide about the key. */
function fieldFor(field: Field, { read, write }: Pick<Rights, 'read' | 'write'>): Field {
  const { viewRule = null, writeRule = null, options } = field;
  const isViewPassed = read === 'pass';
  if (viewRule === null && writeRule === null && options.viewRule == null) return field;
  return {
    ...field,
    viewRule: isViewPassed ? null : viewRule,
    writeRule: write === 'pass' ? null : writeRule,
    options: isViewPassed && options.viewRule != null ? { ...options, viewRule: null } : options,
  };
}
