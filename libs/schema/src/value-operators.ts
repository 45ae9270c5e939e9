import type { JsonSchema } from '@recordbus/http';
import type { Field } from './field.ts';
import type { ValueRefusal } from './field-type.ts';

/** A change to a stored value: one field's operators, parsed for the statement. */
export class ValueOperation {
  /** The value for the statement's parameter. */
  readonly operand: unknown;

  constructor(operand: unknown) {
    this.operand = operand;
  }
}

/** A condition (SQL) on a result under which the write is refused. */
export interface ResultRefusal {
  readonly where: string;
  readonly message: string;
}

/** A field's operators in an update's body (records §6.3). */
export interface ValueOperators {
  /** The operands' JSON Schemas, by operator name. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Reads an object with some of these operators, and no others, or refuses it. Returns the operand. */
  read(operators: Readonly<Record<string, unknown>>): unknown | ValueRefusal;
  /** What the operators make of a record without a value. `operators` has been read. */
  ofNothing(operators: Readonly<Record<string, unknown>>): unknown;
  /** How a statement applies them. */
  readonly inSql: OperatorSql;
}

/** How a statement applies operators. */
export interface OperatorSql {
  /** The operand's SQL type; one of `jsonb` is passed as JSON text. */
  readonly operandType: 'double precision' | 'jsonb';
  /** SQL for the value after the operators, from the SQL for the stored value and the operand. */
  result(stored: string, operand: string): string;
  /** When a result (SQL) is refused, in addition to a required field's empty value. */
  refusals(result: string): readonly ResultRefusal[];
}

/** Whether a written value is an object with operators, where its field has some. On json fields it is a value. */
export function isOperatorObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).some((key) => key.startsWith('$'))
  );
}

/** Names a field's operators if a body has an unknown one; otherwise undefined. */
export function findUnknownOperator(names: readonly string[], operators: object): string | undefined {
  const unknown = Object.keys(operators).find((name) => !names.includes(name));
  return unknown === undefined ? undefined : `takes ${names.join(', ')}, and no other operator`;
}

/** The conditions under which the result (SQL) of a field's operators is refused. */
export function resultRefusals(
  { required }: Field,
  { operandType, refusals }: OperatorSql,
  result: string,
): readonly ResultRefusal[] {
  const mayBeEmpty = operandType === 'jsonb';
  const emptied = { where: `coalesce(${result}, '[]'::jsonb) = '[]'::jsonb`, message: 'is required' };
  return [...(required && mayBeEmpty ? [emptied] : []), ...refusals(result)];
}
