import { composeWrite, nextValue, type Origin, type WriteStatement } from '@recordbus/journal';
import { type Collection, quoteIdentifier, quoteLiteral } from '@recordbus/schema';
import type { CallerSql, SentNames } from '../record/caller-sql.ts';
import { writtenJson } from '../shape/written-json.ts';
import { type GivenRows, givenRows } from './given-rows.ts';
import { holdsFor } from './holds-for.ts';
import { admitsVersion, admittedRows, lockedRows } from './locked-rows.ts';

interface UpdateSeveralValues extends Origin, GivenRows, SentNames {
  /** The fields to set, by name, the same in all operations. */
  readonly names: readonly string[];
}

/**
 * The statement for several updates that name the same fields, each in another record. A record that is missing, has
 * another version, or for which a rule does not hold is not written. It returns a row for each written record.
 */
export const composeUpdateSeveral = (collection: Collection, caller: CallerSql): WriteStatement<UpdateSeveralValues> =>
  composeWrite((parameters) => {
    const given = givenRows(collection, parameters, { withValues: true });
    const names = parameters.named('names', 'text[]');
    const set = collection.fields.map((field) => {
      const isNamed = `${quoteLiteral(field.name)} = any(${names})`;
      const value = `case when ${isNamed} then ${given.valueOf(field)} else ${nextValue(field, 't')} end`;
      return { name: quoteIdentifier(field.name), value };
    });
    const condition = holdsFor(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const rows = { set, joins: admittedRows, conditions: ` and ${admitsVersion}` };
    return {
      before: [given.cte, ...lockedRows(collection, parameters.named('ids', 'text[]'), condition)],
      writes: [{ collection, verb: 'update', rows, places: 'given' }],
      answer: `select s.id, '{"data":' || ${shown.text} || '}' as body, s.version from ${shown.from}`,
    };
  });
