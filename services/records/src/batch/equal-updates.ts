import { inSlices } from '@recordbus/limits/time-slice';
import {
  type Collection,
  type ColumnValues,
  columnsOfIndex,
  isSetBy,
  isUnique,
  perCollection,
} from '@recordbus/schema';
import { fileFieldsOf } from '../files/file-changes.ts';
import { perCaller } from '../record/caller-sql.ts';
import { prepareWrite } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { refuseClosedFields, writeOf } from '../rules/field-rules.ts';
import { addChangeWork } from '../write/after-commit.ts';
import { fieldsWithOperators } from '../write/operators.ts';
import { readerOf } from '../write/update-record.ts';
import type { EqualOperations } from './equal-operations.ts';
import { givenOf, hasOneVersion } from './given-of.ts';
import { columnsOfRows } from './given-rows.ts';
import { isBlind } from './is-blind.ts';
import { resultsOf, type SeveralRow } from './several-rows.ts';
import { composeUpdateSeveral } from './update-several-sql.ts';

const statementOf = perCaller('update', (collection, caller) =>
  prepareWrite('update several', composeUpdateSeveral(collection, caller)),
);

/** Updates without hooks, operators and files, whose values need not be unique. */
export const equalUpdates: EqualOperations = {
  kindOf({ collection, id = '', body, upload, call, operation }, { hooks }) {
    if (upload || hooks.find(collection, 'update') || !isRecordId(id)) return undefined;
    if (!hasOneVersion(operation) || !isBlind('update', collection, call)) return undefined;
    const names = Object.keys(body);
    const alone = namesAlone(collection);
    if (alone.isAlways || names.some((name) => alone.names.has(name))) return undefined;
    if (fieldsWithOperators(collection, body).length > 0) return undefined;
    return JSON.stringify(names.sort());
  },

  async run(unit, ready, rules) {
    const [{ collection, call, body }] = ready;
    const rows: ColumnValues[] = [];
    for await (const one of inSlices(ready)) {
      refuseClosedFields(one.body, writeOf(collection, call), call);
      const read = await readerOf(collection).readChange(one.body, { takesOperators: true });
      rows.push(await rules.encryption.storeSecrets(collection, read));
    }
    const sent = Object.keys(body);
    const { valuesFrom, ...statement } = statementOf(collection, { call, sent });
    const given = {
      ...givenOf(ready),
      columns: columnsOfRows(rows),
      names: [...(rows[0]?.keys() ?? [])],
      sent,
    };
    const written = await unit.query<SeveralRow>({ ...statement, values: valuesFrom(given, call.request) });
    if (written.length < ready.length) return undefined;
    addChangeWork(unit, collection);
    return resultsOf(collection, given.ids, written, { status: 200, encryption: rules.encryption });
  },
};

interface NamesAlone {
  readonly names: ReadonlySet<string>;
  /** Whether every update changes such a value. */
  readonly isAlways: boolean;
}

/**
 * The fields whose updates are done alone: file fields and unique fields. In separate statements a unique value may
 * move from one record to the next. In one statement the order is not known.
 */
const namesAlone = perCollection((collection: Collection): NamesAlone => {
  const unique = (collection.indexes ?? []).filter((index) => index.unique);
  const indexed = unique.flatMap((index) => columnsOfIndex(collection, index));
  const fields = [...collection.fields.filter(isUnique), ...fileFieldsOf(collection)];
  const names = new Set([...indexed, ...fields.map(({ name }) => name)]);
  const setByUpdates = collection.fields.filter((field) => isSetBy(field, 'onUpdate'));
  return {
    names,
    isAlways: [...setByUpdates.map(({ name }) => name), 'updated', 'updated_at'].some((name) => names.has(name)),
  };
});
