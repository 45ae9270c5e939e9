import type { Definition, FieldDefinition } from './definition.ts';
import { createText, isNeverNull, readText, updateText } from './field-text.ts';

/** Another collection's relation that refers to a collection. */
export interface Referrer {
  readonly collection: string;
  readonly field: FieldDefinition;
}

/** Returns a collection's interfaces, for reads, creates, updates and expands. */
export function collectionText(definition: Definition, name: string, referrers: readonly Referrer[]): string {
  const isView = definition.type === 'view';
  return [
    `/** A record of \`${definition.name}\`. */`,
    block(name, recordLines(definition)),
    ...(isView
      ? []
      : [block(`${name}Create`, createLines(definition)), block(`${name}Update`, updateLines(definition))]),
    block(`${name}Expand`, expandLines(definition, referrers)),
  ].join('\n');
}

const block = (name: string, lines: readonly string[]): string =>
  lines.length === 0
    ? `export interface ${name} {}`
    : `export interface ${name} {\n${lines.map((line) => `  ${line};`).join('\n')}\n}`;

const nullable = (text: string): string => (text === 'unknown' ? text : `${text} | null`);

function recordLines({ type, fields }: Definition): string[] {
  const isView = type === 'view';
  const own = fields.flatMap((field) => {
    const text = readText(field);
    if (text === undefined || field.name === 'id') return [];
    // A view's query may join a missing record. A field whose rule refuses is absent.
    const value = isNeverNull(type, field) ? text : nullable(text);
    return [`readonly ${field.name}${field.view_rule == null ? '' : '?'}: ${value}`];
  });
  const times = isView ? '?' : '';
  return [
    'readonly id: string',
    ...own,
    ...(type === 'auth' ? ['readonly anonymous: boolean'] : []),
    `readonly created${times}: number`,
    `readonly updated${times}: number`,
  ];
}

/**
 * The members that every object inherits. If a literal omits such an optional member, the compiler compares the
 * inherited one.
 */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype));

/** A member in a create or update. */
const written = (name: string, isOptional: boolean, text: string): string =>
  `${name}${isOptional ? '?' : ''}: ${isOptional && inherited.has(name) ? 'unknown' : text}`;

const isOfAccounts = ({ name }: FieldDefinition): boolean => name === 'email' || name === 'verified';

function createLines({ type, fields }: Definition): string[] {
  const own = fields.flatMap((field) => {
    const text = createText(field);
    if (text === undefined) return [];
    const isNeeded = field.required === true && field.options?.default === undefined;
    return [written(field.name, !isNeeded, field.required ? text : nullable(text))];
  });
  return type === 'auth' ? [...own, 'password?: string'] : own;
}

function updateLines({ type, fields }: Definition): string[] {
  const own = fields.flatMap((field) => {
    const text = updateText(field);
    if (text === undefined) return [];
    return [written(field.name, true, field.required || isOfAccounts(field) ? text : nullable(text))];
  });
  return type === 'auth' ? [...own, 'password?: string', 'old_password?: string'] : own;
}

function expandLines({ fields }: Definition, referrers: readonly Referrer[]): string[] {
  const lineOf = (name: string, { view_rule: rule }: FieldDefinition, target: string, isList: boolean): string =>
    `readonly ${name}${rule == null ? '' : '?'}: ${isList ? `readonly ["${target}"]` : `"${target}"`}`;
  const relations = fields.flatMap((field) =>
    field.type === 'relation' && field.collection
      ? [lineOf(field.name, field, field.collection, field.options?.multiple === true)]
      : [],
  );
  const names = new Set(fields.map(({ name }) => name));
  const back = referrers.flatMap(({ collection, field }) => {
    const name = `${collection}_via_${field.name}`;
    return names.has(name) ? [] : [lineOf(name, field, collection, true)];
  });
  return [...relations, ...back];
}
