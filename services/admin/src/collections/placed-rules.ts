import { type Collection, type Field, fileOptionsOf, type Rule } from '@recordbus/schema';
import { type Rules, ruleNames } from './read-rules.ts';

/** A rule, and its place in the definition of its collection. */
interface PlacedRule {
  readonly place: string;
  /** The same before and after a field is renamed. */
  readonly key: string;
  readonly rule: string;
}

type Ruled = Pick<Collection, 'rules' | 'fields'>;

/** A cache: a change reads the rules of all collections several times, and most collections stay the same object. */
const found = new WeakMap<Ruled, readonly PlacedRule[]>();

/** Returns every expression in the rules of a collection and of its fields. */
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

/** The places of rules in the definition of a field. */
const fieldPlaces = ['view_rule', 'write_rule', 'options.viewRule'] as const;
type FieldPlace = (typeof fieldPlaces)[number];

/** Returns the rule of a field at a place; null without one. */
export function ruleAt(field: Field, place: FieldPlace): Rule {
  if (place === 'options.viewRule') return field.type === 'file' ? fileOptionsOf(field).viewRule : null;
  return (place === 'view_rule' ? field.viewRule : field.writeRule) ?? null;
}

function withRuleAt(field: Field, place: FieldPlace, rule: Rule): Field {
  if (place === 'options.viewRule') return { ...field, options: { ...field.options, viewRule: rule } };
  return place === 'view_rule' ? { ...field, viewRule: rule } : { ...field, writeRule: rule };
}

/** Replaces the expressions of a collection's own rules. */
export const mapRules = (rules: Rules, replace: (rule: string) => string): Rules => ({
  list: replaced(rules.list, replace),
  view: replaced(rules.view, replace),
  create: replaced(rules.create, replace),
  update: replaced(rules.update, replace),
  delete: replaced(rules.delete, replace),
});

/** Replaces the expressions of the rules of fields. A field whose rules stay the same is returned as is. */
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
