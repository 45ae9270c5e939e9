import { type Collection, type Field, fileOptionsOf, type Rule } from '@recordbus/schema';
import { type Rules, ruleNames } from './read-rules.ts';

/** A rule, and its place in the definition of its collection. */
interface PlacedRule {
  readonly place: string;
  /** The same before and after a field is renamed. */
  readonly key: string;
  readonly rule: Rule;
}

/** Returns every rule of a collection, those of its fields included. */
export const rulesOf = ({ rules, fields }: Pick<Collection, 'rules' | 'fields'>): PlacedRule[] => [
  ...ruleNames.map((name) => ({ place: `${name}_rule`, key: name, rule: rules[name] })),
  ...fields
    .filter(({ type }) => type === 'file')
    .map((field) => ({
      place: `fields.${field.name}.options.viewRule`,
      key: field.id,
      rule: fileOptionsOf(field).viewRule,
    })),
];

/** Replaces the expressions of a collection's own rules. */
export const mapRules = (rules: Rules, replace: (rule: string) => string): Rules => ({
  list: replaced(rules.list, replace),
  view: replaced(rules.view, replace),
  create: replaced(rules.create, replace),
  update: replaced(rules.update, replace),
  delete: replaced(rules.delete, replace),
});

/** Replaces the expressions of the rules of fields. A field whose rule stays is the same object. */
export const mapFieldRules = (fields: readonly Field[], replace: (rule: string, field: Field) => string): Field[] =>
  fields.map((field) => {
    const before = field.type === 'file' ? fileOptionsOf(field).viewRule : null;
    const viewRule = replaced(before, (rule) => replace(rule, field));
    return viewRule === before ? field : { ...field, options: { ...field.options, viewRule } };
  });

const replaced = (rule: Rule, replace: (rule: string) => string): Rule => (rule ? replace(rule) : rule);
