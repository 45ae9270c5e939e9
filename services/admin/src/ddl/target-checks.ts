import {
  type Collection,
  type Field,
  foreignKeyName,
  linkTableOf,
  quoteIdentifier,
  quoteLiteral,
} from '@recordbus/schema';

/** The foreign key checks shorter lists after they are written. */
const longList = 100;

/** The names of the triggers that check long lists' targets. */
export const targetTriggers = ['targets_of_new', 'targets_of_changed'] as const;

/**
 * Plans the triggers that look up long lists' targets before anything is written. The foreign key finds a missing
 * target only after the record, its event and all links are stored, so a list of ids that do not exist was as expensive
 * as a valid list.
 */
export function planTargetTriggers(table: string, fields: readonly Field[], functionName: string): string[] {
  const columns = fields.map(({ name }) => quoteIdentifier(name));
  const isLong = (column: string) => `jsonb_array_length(new.${column}) > ${longList}`;
  const added = columns.map(isLong);
  const changed = columns.map((column) => `(${isLong(column)} and new.${column} is distinct from old.${column})`);
  const [ofNew, ofChanged] = targetTriggers;
  const plan = (name: string, event: string, conditions: readonly string[]) =>
    `create trigger ${name} before ${event} on ${table} for each row\n   when (${conditions.join(' or ')}) execute function ${functionName}()`;
  return [plan(ofNew, 'insert', added), plan(ofChanged, 'update', changed)];
}

/**
 * The part of the triggers' function that checks a field's added targets. It stops at the first missing target. It
 * reads the targets' table from the foreign key, because functions do not follow renames. A record may list itself.
 */
export function checkTargets(collection: Collection, field: Field): string {
  const column = quoteIdentifier(field.name);
  const key = quoteLiteral(foreignKeyName(collection, field));
  const links = quoteLiteral(linkTableOf(collection, field));
  return `    if jsonb_array_length(new.${column}) > ${longList} and links.lacks_target(${links}, ${key}, new.id, new.${column}, old.${column}) then
      raise foreign_key_violation using constraint = ${key};
    end if;`;
}
