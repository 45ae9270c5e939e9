import { z } from 'zod';
import { readNewId } from '../../record/record-id.ts';
import { isRelaxed } from '../../write/is-relaxed.ts';
import { modeOfPut, putRecord } from '../../write/put-record.ts';
import { readKey, readKeyFields } from '../../write/record-key.ts';
import { retryWhileTaken } from '../../write/record-taken.ts';
import type { RecordPlace } from '../../write/update-record.ts';
import { type ActingCaller, actingCaller } from './acting-caller.ts';
import { type RecordsToolsDeps, type RecordsWork, workOnRecords } from './records-work.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { name, values } from './tool-arguments.ts';

type Body = Readonly<Record<string, unknown>>;

interface Put {
  readonly as: ActingCaller;
  readonly collection: string;
  readonly body: Body;
}

/** The tools that create a record or change the existing one (records §17). */
export const putTools = (deps: RecordsToolsDeps): Readonly<Record<string, Tool>> => ({
  'records.put': tool(z.tuple([actingCaller, name, name, values]), (call, [as, collection, id, body]) =>
    put(deps, call, { as, collection, body }, () => ({ id: readNewId(id) })),
  ),

  'records.upsert': tool(z.tuple([actingCaller, name, name, values]), (call, [as, collection, on, body]) =>
    put(deps, call, { as, collection, body }, async (work) => {
      const fields = readKeyFields(work.collection, on, work.call);
      return { key: await readKey(work.collection, fields, body) };
    }),
  ),
});

/** Puts the record that the call names. Retries if another request creates the record first. */
const put = (
  deps: RecordsToolsDeps,
  call: ToolCall,
  { as, collection, body }: Put,
  readPlace: (work: RecordsWork) => Promise<RecordPlace> | RecordPlace,
): Promise<string> =>
  retryWhileTaken(() =>
    workOnRecords(deps, call, { as, collection, action: ['update', 'create'], body }, async (work) => {
      const place = await readPlace(work);
      const rules = { ...work.rules, collections: deps.collections };
      return work.write(
        { mode: modeOfPut(work.collection, work.call, rules), isRelaxed: isRelaxed(work.collection) },
        async (unit) => {
          const request = { ...place, body, versions: undefined };
          return (await putRecord(unit, work.collection, request, work.call, rules)).body;
        },
      );
    }),
  );
