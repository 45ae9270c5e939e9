import type { CollectionDefinition } from '@recordbus/client';
import type { Draft, DraftRule, FieldDraft, RuleName } from './draft.ts';

/** A rule that can be chosen by its name. */
export interface RulePreset {
  readonly name: string;
  readonly rule: string;
}

/** Holds for users and service keys, and for no guest (rules §4.4). */
const signedIn: RulePreset = { name: 'Users', rule: '@request.auth.id != ""' };

const isAccount = (collection: string, collections: readonly CollectionDefinition[]): boolean =>
  collections.some(({ name, type }) => name === collection && type === 'auth');

/** Returns the fields that name an account. */
const peopleIn = (fields: readonly FieldDraft[], collections: readonly CollectionDefinition[]): FieldDraft[] =>
  fields.filter(
    ({ type, name, collection }) => type === 'relation' && name !== '' && isAccount(collection, collections),
  );

/** Returns the rules for members: accounts that a third collection relates to a record, or to what it belongs to. */
function memberRules(draft: Draft, collections: readonly CollectionDefinition[]): RulePreset[] {
  const groups = draft.fields.filter(
    ({ type, name, collection }) => type === 'relation' && name !== '' && collection !== '',
  );
  const places = [
    ...groups.map(({ name, collection }) => [`record.${name}`, collection] as const),
    ['record.id', draft.name] as const,
  ];
  return places.flatMap(([place, group]) =>
    collections.flatMap(({ name, fields }) => {
      const relations = fields.filter(({ type }) => type === 'relation');
      const user = relations.find(({ collection }) => isAccount(collection ?? '', collections));
      const to = relations.find((field) => field.collection === group && field !== user);
      if (!user || !to || name === draft.name || isAccount(group, collections)) return [];
      return [
        {
          name: `Members (${name})`,
          rule: `exists(${name}, ${user.name} = @request.auth.id && ${to.name} = ${place})`,
        },
      ];
    }),
  );
}

/** Returns the rules that fit a collection. */
export function presetsFor(draft: Draft, collections: readonly CollectionDefinition[]): readonly RulePreset[] {
  const own = draft.type === 'auth' ? [{ name: 'The account itself', rule: 'id = @request.auth.id' }] : [];
  const owners = peopleIn(draft.fields, collections).map(({ name }) => ({
    name: `Owner (${name})`,
    rule: `${name} = @request.auth.id`,
  }));
  return [signedIn, ...own, ...owners, ...memberRules(draft, collections)];
}

/** Rules for the whole collection. */
export interface WholePreset {
  readonly name: string;
  readonly rules: Readonly<Record<RuleName, DraftRule>>;
}

const both = (read: DraftRule, write: DraftRule, create = write): Readonly<Record<RuleName, DraftRule>> => ({
  list_rule: read,
  view_rule: read,
  create_rule: create,
  update_rule: write,
  delete_rule: write,
});

/** Returns the presets for a whole collection: who reads, and who writes. */
export function wholePresets(presets: readonly RulePreset[]): readonly WholePreset[] {
  const others = presets.filter(({ name }) => name !== signedIn.name);
  return [
    { name: 'Admins only', rules: both('', '') },
    { name: 'Public read: everyone reads, admins write', rules: both(null, '') },
    { name: 'Users read, admins write', rules: both(signedIn.rule, '') },
    ...others.map(({ name, rule }) => ({ name: `${name} reads and writes`, rules: both(rule, rule) })),
    ...others.map(({ name, rule }) => ({
      name: `Public read, ${name.replace(/^./, (first) => first.toLowerCase())} writes`,
      rules: both(null, rule),
    })),
  ];
}
