import { Filter } from './filter.ts';
import { literalOf } from './literal.ts';

/** The key for an operand's text. It is a symbol, so a field can have any name. */
const operandText = Symbol('operand');

interface Operand {
  readonly [operandText]: string;
}

const isOperand = (value: unknown): value is Operand =>
  typeof value === 'object' && value !== null && operandText in value;

/** An operand's text: a path, or a value's literal. */
export const textOf = (value: unknown): string => (isOperand(value) ? value[operandText] : literalOf(value));

/** The test `in` with an empty list, which holds for no record. */
const never = '1 = 0';

/** Wraps a finished test, as `all(…)` does. */
type Wrap = (test: string) => string;

/** The tests and forms for the operand `text`. They hide fields with the same names, which `field(name)` reaches. */
function membersOf(text: string, wrap: Wrap): Readonly<Record<string, unknown>> {
  const test = (operator: string) => (value: unknown) => new Filter(wrap(`${text} ${operator} ${textOf(value)}`));
  return {
    eq: test('='),
    ne: test('!='),
    gt: test('>'),
    gte: test('>='),
    lt: test('<'),
    lte: test('<='),
    contains: test('~'),
    notContains: test('!~'),
    in: (values: unknown) =>
      new Filter(Array.isArray(values) && values.length === 0 ? never : wrap(`${text} in ${textOf(values)}`)),
    field: (name: string) => operandOf(`${text}.${name}`, wrap),
    at: (...keys: readonly (string | number)[]) => operandOf([text, ...keys].join('.'), wrap),
    get lower() {
      return operandOf(`${text}:lower`, wrap);
    },
    get length() {
      return operandOf(`${text}:length`, wrap);
    },
    get all() {
      return operandOf(text, (inner) => `all(${inner})`);
    },
    get none() {
      return operandOf(text, (inner) => `none(${inner})`);
    },
  };
}

/** An operand whose members are its tests, and for every other name the operand one step further. */
export function operandOf(text: string, wrap: Wrap = (test) => test): object {
  const members = membersOf(text, wrap);
  return new Proxy(Object.create(null), {
    has: (_, name) => name === operandText,
    get: (_, name) => {
      if (name === operandText) return text;
      if (typeof name === 'symbol') return undefined;
      return Object.hasOwn(members, name) ? members[name] : operandOf(`${text}.${name}`, wrap);
    },
  });
}
