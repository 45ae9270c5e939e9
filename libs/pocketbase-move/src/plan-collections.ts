import { createHash } from 'node:crypto';
import { AppError } from '@recordbus/errors';
import type { CollectionDefinition, Note, TranslatedCollection } from '@recordbus/pocketbase/collections';
import type { TranslatedRule } from '@recordbus/pocketbase/rules';
import { type ApiAddress, CommandFailure, callApi } from '@recordbus/stack-calls';
import { leftOutView } from './prepare-move.ts';
import type { Members, SchemaDocument, SchemaPlan } from './schema-document.ts';

/** The collections as they will be, with what the stack refused of them. */
export interface PlannedCollections {
  readonly plan: SchemaPlan;
  readonly schema: SchemaDocument;
  readonly collections: readonly TranslatedCollection[];
  readonly notes: readonly Note[];
}

/** Members of a definition that may go, or close, when the stack refuses them. */
type Loosened = { -readonly [Member in keyof CollectionDefinition]: CollectionDefinition[Member] };

const path = '/api/v1/admin/schema';

/** How often definitions are changed for the stack before the move is refused. */
const maxAttempts = 100;

/** Plans new definitions beside the collections that are there. What the stack refuses is locked or left out, and noted. */
export async function planCollections(
  address: ApiAddress,
  given: readonly TranslatedCollection[],
): Promise<PlannedCollections> {
  const current = (await callApi(address, 'GET', path)) as SchemaDocument;
  const names = new Set(given.map(({ to }) => to.name.toLowerCase()));
  const others = current.collections.filter(({ name }) => !names.has(String(name).toLowerCase()));
  const notes: Note[] = [];
  let collections = given;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const schema: SchemaDocument = {
      version: 1,
      migrations: current.migrations,
      collections: [...others, ...collections.map(({ to }) => to as unknown as Members)],
    };
    try {
      const plan = (await callApi(address, 'POST', `${path}/plan`, { schema, variables: {} })) as SchemaPlan;
      return { plan, schema, collections, notes };
    } catch (error) {
      if (!(error instanceof AppError) || error.status !== 422 || !error.details) throw error;
      collections = adapt(collections, error.details, notes);
    }
  }
  throw new CommandFailure('The stack refuses the collections again and again: report this as a defect.');
}

/** Applies a plan in one transaction. */
export const applyCollections = (address: ApiAddress, { plan, schema }: PlannedCollections): Promise<unknown> =>
  callApi(address, 'POST', `${path}/apply`, { schema, variables: {}, hash: plan.hash, allow_drop: [] });

/** A definition's digest, by which a later run knows whether it has changed in PocketBase. */
export const digestOf = ({ from }: TranslatedCollection): string =>
  createHash('sha256').update(JSON.stringify(from)).digest('hex');

const ruleMembers = ['list_rule', 'view_rule', 'create_rule', 'update_rule', 'delete_rule', 'sign_in_rule'] as const;

function adapt(
  collections: readonly TranslatedCollection[],
  details: Readonly<Record<string, unknown>>,
  notes: Note[],
): readonly TranslatedCollection[] {
  const places = Object.entries(details).map(([place, message]) => ({
    place,
    message: String(message),
    isUsed: false,
  }));
  const adapted = collections.flatMap((collection) => {
    const start = `collections.${collection.to.name}.`;
    const own = places.filter(({ place }) => place.replace(/^schema\./, '').startsWith(start));
    if (own.length === 0) return collection;
    const refusal = own.find(({ place }) => !isAboutRule(place));
    if (collection.to.type === 'view' && refusal) {
      for (const one of own) one.isUsed = true;
      notes.push(leftOutView(collection.from, refusal.message));
      return [];
    }
    const to: Loosened = { ...collection.to };
    let rules = collection.rules;
    for (const one of own) {
      const rest = one.place
        .replace(/^schema\./, '')
        .slice(start.length)
        .split('.');
      const change = loosen(to, rest, one.message);
      if (!change) continue;
      one.isUsed = true;
      if (change.rule) rules = rules.map((rule) => (rule.rule === change.rule ? lock(rule, one.message) : rule));
      else notes.push({ collection: collection.from.name, field: change.field, kind: change.kind, text: change.text });
    }
    return { ...collection, to, rules };
  });
  const left = places.filter(({ isUsed }) => !isUsed);
  if (left.length > 0)
    throw new AppError(422, 'validation_failed', 'the stack refuses the collections', {
      details: Object.fromEntries(left.map(({ place, message }) => [place, message])),
    });
  return adapted;
}

const isAboutRule = (place: string): boolean => ruleMembers.some((member) => place.endsWith(`.${member}`));

const lock = (rule: TranslatedRule, why: string): TranslatedRule => ({
  ...rule,
  to: '',
  result: 'locked',
  why: `the translation is refused: ${why}`,
});

const ownAddress = 'id = @request.auth.id';

type Change = Pick<Note, 'field' | 'kind' | 'text'> & { readonly rule?: string };

/** Changes a definition so that the stack takes it. Never opens a rule. Undefined for what only a person can decide. */
function loosen(
  to: Loosened,
  [member = '', name = '', ...rest]: readonly string[],
  message: string,
): Change | undefined {
  const rule = ruleMembers.find((one) => one === member);
  if (rule) {
    to[rule] = '';
    return { field: undefined, kind: 'changed', text: '', rule };
  }
  if (member === 'alias') {
    delete to.alias;
    return { field: undefined, kind: 'changed', text: `links by its id in PocketBase do not find it: ${message}` };
  }
  if (member === 'indexes') {
    const index = to.indexes.find((one, at) => one.name === name || String(at) === name);
    if (!index) return undefined;
    to.indexes = to.indexes.filter((one) => one !== index);
    const kind = index.unique ? 'risk' : 'left_out';
    return { field: undefined, kind, text: `the index ${index.name} on ${index.columns.join(', ')}: ${message}` };
  }
  if (member !== 'fields') return undefined;
  const field = to.fields.find((one) => one.name === name);
  if (!field) return undefined;
  const [place, option = ''] = rest;
  const replace = (now: typeof field) => {
    to.fields = to.fields.map((one) => (one === field ? now : one));
  };
  if (place === 'options' && option !== '' && field.options && Object.hasOwn(field.options, option)) {
    // Without its values a select takes nothing, and a public file that is refused stays closed.
    const { [option]: _, ...options } = field.options;
    replace({ ...field, options });
    return { field: field.name, kind: option === 'unique' ? 'risk' : 'changed', text: `without ${option}: ${message}` };
  }
  if (place === 'view_rule' && field.view_rule) {
    // An account's owner needs its address.
    const narrower = to.type === 'auth' && name === 'email' && field.view_rule !== ownAddress ? ownAddress : '';
    replace({ ...field, view_rule: narrower });
    return { field: name, kind: 'changed', text: `only ${narrower === '' ? 'admins' : 'owners'} see it: ${message}` };
  }
  return undefined;
}
