import { validateHeaderName, validateHeaderValue } from 'node:http';
import { describeIssues } from '@recordbus/errors/describe-issues';
import {
  type Extension,
  type HandlerTools,
  type IncomingMail,
  type JobRun,
  Reply,
  type Route,
  type RouteRequest,
  type Write,
  type z,
} from '@recordbus/extensions';
import { type CallTarget, isBefore, nameOfTarget } from '../description.ts';
import { HostRefusal } from './host-refusal.ts';
import { jsonText } from './json-text.ts';

/** A request to a route, as the host passes it. */
export interface RouteInput extends Omit<RouteRequest<unknown, unknown, unknown>, 'header'> {
  readonly headers: Readonly<Record<string, string>>;
}

/** A route's answer, ready to be sent. */
export interface RouteOutput {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly json: string;
}

/** An attempt at a job, as the host passes it. */
export interface JobRunInput extends Pick<JobRun, 'id' | 'key' | 'attempt'> {
  /** JSON text. */
  readonly input: string;
}

/** A mail that came in, as the host passes it. */
export interface MailInput {
  /** JSON text: the mail, its attachments without their content. */
  readonly mail: string;
  /** The attachments' contents. */
  readonly contents: readonly (Uint8Array | null)[];
}

/** Calls the function that the target names, and returns its result for the host. */
export async function invoke(
  extension: Extension,
  target: CallTarget,
  input: unknown,
  tools: HandlerTools,
  progress: JobRun['progress'],
): Promise<unknown> {
  switch (target.kind) {
    case 'hook': {
      const hook = extension.hooks?.[target.collection]?.[target.point];
      if (isBefore(target.point)) {
        await hook?.(input as never, tools);
        return jsonText((input as Write).values);
      }
      await requireDeclared(hook, target)(input as never, tools);
      return undefined;
    }
    case 'signIn': {
      const hook = extension.signIn?.[target.collection]?.[target.point];
      if (target.point === 'before') await hook?.(input as never, tools);
      else await requireDeclared(hook, target)(input as never, tools);
      return undefined;
    }
    case 'cron': {
      const cron = extension.crons?.find(({ name }) => name === target.name);
      await requireDeclared(cron?.handler, target)(input as never, tools);
      return undefined;
    }
    case 'job': {
      const { handler, input: schema } = requireDeclared(extension.jobs?.[target.name], target);
      const { input: text, ...run } = input as JobRunInput;
      await handler({ ...run, input: await readInput(schema, text), progress } as never, tools);
      return undefined;
    }
    case 'mail':
      await requireDeclared(extension.onMail, target)(readMail(input as MailInput), tools);
      return undefined;
    case 'jobInput': {
      const { key, input: schema } = requireDeclared(extension.jobs?.[target.name], target);
      const read = await readInput(schema, input as string);
      return key?.(read as never);
    }
    case 'route': {
      const route = extension.routes?.find(({ method, path }) => `${method} ${path}` === target.name);
      return answer(requireDeclared(route, target), input as RouteInput, tools);
    }
  }
}

function readMail({ mail, contents }: MailInput): IncomingMail {
  const read = JSON.parse(mail) as IncomingMail;
  return { ...read, attachments: read.attachments.map((one, index) => ({ ...one, content: contents[index] ?? null })) };
}

/** Returns a declaration that existed when the call began; throws if the file was edited since. */
function requireDeclared<T>(declared: T | undefined, target: CallTarget): T {
  if (declared === undefined) throw new Error(`${nameOfTarget(target)} no longer exists`);
  return declared;
}

async function answer(route: Route, input: RouteInput, tools: HandlerTools): Promise<RouteOutput> {
  const { headers, ...given } = input;
  const request = {
    ...given,
    params: await read(route.params, input.params, 400),
    query: await read(route.query, input.query, 400),
    body: route.body && (await read(route.body, input.body, 422)),
    header: (name: string) => headers[name.toLowerCase()],
  };
  const value = await route.handler(request as never, tools);
  const reply = value instanceof Reply ? value : new Reply(200, value, {});
  if (!Number.isInteger(reply.status) || reply.status < 200 || reply.status > 399)
    throw new Error(`answered with ${reply.status}, which is not from 200 to 399; to refuse, throw refuse(…)`);
  return {
    status: reply.status,
    headers: readHeaders(reply.headers),
    json: `{"data":${jsonText(reply.data ?? null)}}`,
  };
}

/** Validates an answer's headers; an invalid one is a defect in the extension. */
function readHeaders(given: unknown): Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new TypeError('answer headers must be an object');
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      validateHeaderName(name);
      validateHeaderValue(name, String(value));
      return [name, String(value)];
    }),
  );
}

/** Reads a job's input from JSON text. Throws 422 `invalid_job_input` for one that its schema refuses. */
async function readInput(schema: z.ZodType, text: string): Promise<unknown> {
  const value: unknown = JSON.parse(text);
  const result = await schema.safeParseAsync(value);
  if (result.success) return result.data;
  const details = describeIssues(result.error, value);
  const [name, problem] = Object.entries(details)[0] ?? ['', 'is not valid'];
  const message = `the job's input is refused: ${name ? `${name} ` : ''}${problem}`;
  throw new HostRefusal({ status: 422, code: 'invalid_job_input', message, details });
}

async function read(schema: z.ZodType | undefined, value: unknown, status: 400 | 422): Promise<unknown> {
  if (!schema) return value;
  const result = await schema.safeParseAsync(value);
  if (result.success) return result.data;
  const details = describeIssues(result.error, value);
  const [name, problem] = Object.entries(details)[0] ?? ['request', 'is not valid'];
  throw status === 422
    ? new HostRefusal({ status, code: 'validation_failed', message: 'validation failed', details })
    : new HostRefusal({ status, code: 'malformed_request', message: `${name}: ${problem}`, details });
}
