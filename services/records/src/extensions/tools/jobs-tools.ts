import { notFound, validationFailed } from '@recordbus/errors';
import type { ExtensionHost } from '@recordbus/extension-host';
import { z } from 'zod';
import type { RunWrite } from '../../write/write-unit.ts';
import { writeIn } from '../call-scope.ts';
import { cancelByKey, enqueueJob } from '../jobs/enqueue-job.ts';
import { type Tool, type ToolCall, tool } from './tool.ts';
import { plainText } from './tool-arguments.ts';

interface JobsToolsDeps {
  readonly host: Pick<ExtensionHost, 'extensions' | 'call'>;
  readonly write: RunWrite;
  /** Throws 503 while too many of an extension's jobs wait. */
  readonly checkRoom: (extension: string) => Promise<void>;
}

const maxInputBytes = 64 * 1024;
/** How long a job's schema and its `key` may take, in milliseconds. */
const inputTimeoutMs = 5000;
const tenYearsSec = 315_360_000;
const maxKeyLength = 255;

const keyText = plainText(maxKeyLength);
const fullName = plainText(128);
const jobOptions = z
  .strictObject({
    in_s: z.number().min(0).max(tenYearsSec).optional(),
    at: z.number().min(0).max(32_503_680_000).optional(),
    key: keyText.optional(),
    priority: z.int().min(-1000).max(1000).default(0),
  })
  .refine(({ in_s, at }) => in_s === undefined || at === undefined, { path: ['at'], message: 'excludes in_s' });

/** The tools for work that runs later (extensions §8.2), as a part of the call's transaction if it has one. */
export const jobsTools = ({ host, write, checkRoom }: JobsToolsDeps): Readonly<Record<string, Tool>> => ({
  'jobs.enqueue': tool(z.tuple([fullName, z.string(), jobOptions]), async (call, [full, input, options]) => {
    const { extension, name } = splitName(host.extensions, full);
    if (Buffer.byteLength(input) > maxInputBytes)
      throw validationFailed({ input: `may have at most ${maxInputBytes} bytes` });
    const declaredKey = await readKey(host, call, { extension, name, input });
    await checkRoom(extension);
    const { requestId, traceparent } = call.scope.context;
    return writeIn(call.scope, write)({ mode: 'statement' }, async (unit) => {
      unit.due.add('startJobs');
      const enqueued = await enqueueJob(unit.query, {
        extension,
        name,
        input,
        key: options.key ?? declaredKey,
        priority: options.priority,
        inSec: options.in_s,
        atSec: options.at,
        requestId,
        traceparent,
      });
      return JSON.stringify(enqueued);
    });
  }),

  'jobs.cancel': tool(z.tuple([keyText, fullName.optional()]), async (call, [key, full]) => {
    const { extension, name } =
      full === undefined ? { extension: call.extension, name: undefined } : splitName(host.extensions, full);
    return writeIn(call.scope, write)({ mode: 'statement' }, (unit) =>
      cancelByKey(unit.query, { extension, name, key }),
    );
  }),
});

/** Splits a job's full name. Throws 404 for a job that no loaded extension declares. */
function splitName(extensions: ExtensionHost['extensions'], full: string): { extension: string; name: string } {
  const [extension = '', name = ''] = full.split('.');
  const declared = extensions.find((one) => one.name === extension)?.description.jobs;
  if (`${extension}.${name}` !== full || !declared?.some((job) => job.name === name && !job.takesMails))
    throw notFound(`the job ${full}`);
  return { extension, name };
}

interface NewInput {
  readonly extension: string;
  readonly name: string;
  /** JSON text. */
  readonly input: string;
}

/** Has the job's extension check the input, and returns the key that it declares. Throws 422 for a refused input. */
async function readKey(
  host: JobsToolsDeps['host'],
  { extension: enqueuer, scope, worker }: ToolCall,
  { extension, name, input }: NewInput,
): Promise<string | undefined> {
  const key = await host.call(extension, {
    target: { kind: 'jobInput', name },
    input,
    timeoutMs: Math.max(1, Math.min(inputTimeoutMs, scope.deadlineMs - performance.now())),
    answer: async () => {
      throw notFound('tools here');
    },
    // The enqueuer's worker waits for this call.
    within: extension === enqueuer ? worker : scope.workers.get(extension),
  });
  if (key === undefined) return undefined;
  const read = keyText.safeParse(key);
  if (!read.success) throw validationFailed({ key: read.error.issues[0]?.message ?? 'is not valid' });
  return read.data;
}
