import type { JsonSchema } from '@recordbus/shared/http';
import type { Field } from './field.ts';
import type { ValueRefusal } from './field-type.ts';

/** A change of a stored value: the operators of one field, parsed for the statement. */
export class ValueOperation {
  /** The value for the parameter of the statement. */
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

/** The operators of a field in the body of an update (records §6.3). */
export interface ValueOperators {
  /** The JSON Schemas of the operands, by the names of the operators. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Reads an object with some of these operators, and no others, or refuses it. Returns the operand. */
  read(operators: Readonly<Record<string, unknown>>): unknown | ValueRefusal;
  /** The result of the operators for a record without a value. `operators` has been read. */
  ofNothing(operators: Readonly<Record<string, unknown>>): unknown;
  /** How a statement applies them. */
  readonly inSql: OperatorSql;
}

/** How a statement applies operators. */
export interface OperatorSql {
  /** SQL type of the operand; one of `jsonb` is passed as JSON text. */
  readonly operandType: 'double precision' | 'jsonb';
  /** SQL of the value after the operators, from the SQL of the stored value and the operand. */
  result(stored: string, operand: string): string;
  /** When a result (SQL) is refused, in addition to an empty value of a required field. */
  refusals(result: string): readonly ResultRefusal[];
}

/** Whether a written value is an object of operators, where its field has some. On json fields it is a value. */
export function isOperatorObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).some((key) => key.startsWith('$'))
  );
}

/** Names the operators of a field if a body has an unknown one; otherwise undefined. */
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
