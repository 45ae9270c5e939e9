import { type Collection, type CollectionRules, type Field, fileOptionsOf, type Rule } from '@recordbus/schema';
import { ruleNames } from './read-rules.ts';

/** A rule, and its place in its collection's definition. */
interface PlacedRule {
  readonly place: string;
  /** The same before and after a field is renamed. */
  readonly key: string;
  readonly rule: string;
}

type Ruled = Pick<Collection, 'rules' | 'fields'>;

/** A cache: a change reads all collections' rules several times, and most collections stay the same object. */
const found = new WeakMap<Ruled, readonly PlacedRule[]>();

/** Returns every expression in a collection's and its fields' rules. */
export function rulesOf(collection: Ruled): readonly PlacedRule[] {
  const known = found.get(collection) ?? findRules(collection);
  found.set(collection, known);
  return known;
}

const findRules = ({ rules, fields }: Ruled): PlacedRule[] => [
  ...ruleNames.flatMap((name) => {
    const rule = rules[name];
    return rule ? [{ place: `${name}_rule`, key: name, rule }] : [];
  }),
  ...fields.flatMap((field) =>
    fieldPlaces.flatMap((place) => {
      const rule = ruleAt(field, place);
      return rule ? [{ place: `fields.${field.name}.${place}`, key: `${field.id} ${place}`, rule }] : [];
    }),
  ),
];

/** The places for rules in a field's definition. */
const fieldPlaces = ['view_rule', 'write_rule', 'options.viewRule'] as const;
type FieldPlace = (typeof fieldPlaces)[number];

/** Returns a field's rule at a place; null without one. */
export function ruleAt(field: Field, place: FieldPlace): Rule {
  if (place === 'options.viewRule') return field.type === 'file' ? fileOptionsOf(field).viewRule : null;
  return (place === 'view_rule' ? field.viewRule : field.writeRule) ?? null;
}

function withRuleAt(field: Field, place: FieldPlace, rule: Rule): Field {
  if (place === 'options.viewRule') return { ...field, options: { ...field.options, viewRule: rule } };
  return place === 'view_rule' ? { ...field, viewRule: rule } : { ...field, writeRule: rule };
}

/** Replaces the expressions in a collection's own rules. */
export const mapRules = (rules: CollectionRules, replace: (rule: string) => string): CollectionRules => ({
  list: replaced(rules.list, replace),
  view: replaced(rules.view, replace),
  create: replaced(rules.create, replace),
  update: replaced(rules.update, replace),
  delete: replaced(rules.delete, replace),
  ...(rules.sign_in != null && { sign_in: replaced(rules.sign_in, replace) }),
  ...(rules.webhook && { webhook: replace(rules.webhook) }),
});

/** Replaces the expressions in field rules. A field whose rules stay the same is returned as is. */
export const mapFieldRules = (
  fields: readonly Field[],
  replace: (rule: string, field: Field, place: FieldPlace) => string,
): Field[] =>
  fields.map((field) =>
    fieldPlaces.reduce((after, place) => {
      const before = ruleAt(field, place);
      const rule = replaced(before, (text) => replace(text, field, place));
      return rule === before ? after : withRuleAt(after, place, rule);
    }, field),
  );

const replaced = (rule: Rule, replace: (rule: string) => string): Rule => (rule ? replace(rule) : rule);
