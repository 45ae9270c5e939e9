import type { Field } from '../field.ts';
import { ValueRefusal } from '../field-type.ts';
import { findUnknownOperator, type ValueOperators } from '../value-operators.ts';
import { listMaxOf } from './list-max.ts';
import { changedList, type ListOperand } from './list-operators.ts';
import { isStorable } from './storable.ts';

const names = ['$remove'] as const;

/** The operator for a list of file names: `$remove`. An upload in the same request appends its files. */
export const fileOperatorsOf = (field: Field): ValueOperators => ({
  schemas: { $remove: { type: 'array', items: { type: 'string' } } },
  read(operators) {
    const unknown = findUnknownOperator(names, operators);
    if (unknown !== undefined) return new ValueRefusal(unknown);
    const { $remove } = operators;
    const isListOfTexts =
      Array.isArray($remove) && $remove.every((name) => typeof name === 'string' && isStorable(name));
    if (!isListOfTexts) return new ValueRefusal('takes a list of names for $remove');
    return { append: [], prepend: [], remove: $remove } satisfies ListOperand;
  },
  ofNothing: () => [],
  inSql: { operandType: 'jsonb', result: changedList, refusals: listMaxOf(field, 'files').refusals },
});
