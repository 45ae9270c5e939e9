import { ValueRefusal } from '../field-type.ts';
import { findUnknownOperator, type ValueOperators } from '../value-operators.ts';

const names = ['$add'] as const;

/** Doubles are exact up to here. Beyond it, a sum may not change by exactly the added number. */
const maxSum = 2 ** 53;

const tooLarge = `must not be beyond ${maxSum} after $add`;

/** Why a field with `integer` refuses a number (fields §3.2). */
export const notWhole = 'must be a whole number';

interface Bounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly integer: boolean;
}

/** The operators for a number: `$add`. No value counts as 0. */
export const numberOperators = ({ min, max, integer }: Bounds): ValueOperators => ({
  schemas: { $add: { type: integer ? 'integer' : 'number' } },
  read(operators) {
    const unknown = findUnknownOperator(names, operators);
    if (unknown !== undefined) return new ValueRefusal(unknown);
    const { $add } = operators;
    if (typeof $add !== 'number' || !Number.isFinite($add)) return new ValueRefusal('takes a number for $add');
    // The stored number is whole, so the sum is too.
    if (integer && !Number.isInteger($add)) return new ValueRefusal(notWhole);
    return Math.abs($add) > maxSum ? new ValueRefusal(tooLarge) : $add;
  },
  ofNothing: ({ $add }) => $add,
  inSql: {
    operandType: 'double precision',
    // The operand is small, so no sum overflows.
    result: (stored, operand) => `(coalesce(${stored}, 0) + ${operand})`,
    refusals: (sum) => [
      ...(min === undefined ? [] : [{ where: `${sum} < ${double(min)}`, message: `must be at least ${min}` }]),
      ...(max === undefined ? [] : [{ where: `${sum} > ${double(max)}`, message: `must be at most ${max}` }]),
      { where: `abs(${sum}) > ${double(maxSum)}`, message: tooLarge },
    ],
  },
});

const double = (value: number): string => `'${value}'::double precision`;
