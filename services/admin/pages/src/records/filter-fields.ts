import type { CollectionDefinition, FieldDefinition } from '@recordbus/client';

/** How a condition's value is entered. */
export type ValueKind = 'none' | 'text' | 'number' | 'date' | 'days' | 'choice' | 'record';

/** What a condition tests. */
export interface Test {
  /** The operator; with `none`, its value too. */
  readonly operator: string;
  readonly label: string;
  readonly kind: ValueKind;
}

/** A field that conditions can test. */
export interface FilterField {
  readonly name: string;
  readonly type: string;
  /** The first one is the usual one. */
  readonly tests: readonly Test[];
  readonly choices: readonly string[];
  /** A relation's collection. */
  readonly target: string;
}

const test = (operator: string, label: string, kind: ValueKind = 'none'): Test => ({ operator, label, kind });
const contains = [test('~', 'contains', 'text'), test('!~', 'does not contain', 'text')];
const presence = [test('!= null', 'has a value'), test('= null', 'has no value')];
const same = (kind: ValueKind): Test[] => [test('=', 'is', kind), test('!=', 'is not', kind)];
const order = [
  test('>', 'is more than', 'number'),
  test('>=', 'is at least', 'number'),
  test('<', 'is less than', 'number'),
  test('<=', 'is at most', 'number'),
];
const times = [
  test('> @now-', 'is in the last', 'days'),
  test('>=', 'is at or after', 'date'),
  test('<', 'is before', 'date'),
];
const words = [...contains, ...same('text'), ...presence];

const testsOf: Readonly<Record<string, readonly Test[]>> = {
  id: same('text'),
  text: words,
  editor: words,
  email: words,
  url: words,
  number: [...same('number'), ...order, ...presence],
  bool: [test('= true', 'is true'), test('= false', 'is false'), ...presence],
  date: [...times, ...presence],
  autodate: times,
  relation: [...same('record'), ...presence],
  file: [...contains, ...presence],
  json: [...contains, ...presence],
  geoPoint: presence,
  vector: presence,
};

function testsFor({ type, options }: FieldDefinition): readonly Test[] {
  if (type !== 'select') return testsOf[type] ?? [];
  const [is, isNot] = options?.multiple === true ? ['has', 'does not have'] : ['is', 'is not'];
  return [test('=', is, 'choice'), test('!=', isNot, 'choice'), ...presence];
}

/** Returns the fields that a filter may name, and their tests. */
export function filterFields({ type, fields }: CollectionDefinition): readonly FilterField[] {
  const own: FieldDefinition[] = [
    { name: 'id', type: 'id' },
    ...fields.filter(({ options }) => options?.encrypted !== true),
    ...(type === 'view' ? [] : ['created', 'updated'].map((name) => ({ name, type: 'autodate' }))),
  ];
  return own
    .filter(({ name }, index) => own.findIndex((other) => other.name === name) === index)
    .map((field) => ({
      name: field.name,
      type: field.type,
      tests: testsFor(field),
      choices: Array.isArray(field.options?.values) ? field.options.values.map(String) : [],
      target: field.collection ?? '',
    }))
    .filter(({ tests }) => tests.length > 0);
}
