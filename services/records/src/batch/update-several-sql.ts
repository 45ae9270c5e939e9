import { composeWrite, nextValue, type Origin, versionAssignments, type WriteStatement } from '@recordbus/journal';
import { type Collection, quoteIdentifier, quoteLiteral, tableOf } from '@recordbus/schema';
import type { CallerSql, SentNames } from '../record/caller-sql.ts';
import { writtenJson } from '../shape/written-json.ts';
import { type GivenRows, givenRows } from './given-rows.ts';
import { holdsFor } from './holds-for.ts';
import { admitsVersion, lockedRows } from './locked-rows.ts';

interface UpdateSeveralValues extends Origin, GivenRows, SentNames {
  /** The names of the fields to set, the same in all operations. */
  readonly names: readonly string[];
}

/**
 * The statement of several updates that name the same fields, each of another record. A record that is missing, has
 * another version, or for which a rule does not hold is not written. It returns a row for each written record.
 */
export const composeUpdateSeveral = (collection: Collection, caller: CallerSql): WriteStatement<UpdateSeveralValues> =>
  composeWrite((parameters) => {
    const given = givenRows(collection, parameters, { withValues: true });
    const names = parameters.named('names', 'text[]');
    const assignments = collection.fields.map((field) => {
      const isNamed = `${quoteLiteral(field.name)} = any(${names})`;
      const value = `case when ${isNamed} then ${given.valueOf(field)} else ${nextValue(field, 't')} end`;
      return `${quoteIdentifier(field.name)} = ${value}, `;
    });
    const condition = holdsFor(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const write = `update ${tableOf(collection)} t set ${assignments.join('')}${versionAssignments('t')}
  from old join admitted on admitted.id = old.id join given g on g.id = old.id
  where t.id = old.id and ${admitsVersion}
  returning t.*`;
    return {
      before: [given.cte, ...lockedRows(collection, parameters.named('ids', 'text[]'), condition)],
      writes: [{ collection, verb: 'update', write, places: 'given' }],
      answer: `select s.id, '{"data":' || ${shown.text} || '}' as body, s.version from ${shown.from}`,
    };
  });
