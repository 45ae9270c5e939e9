import assert from 'node:assert/strict';
import { type Answer, createClient } from '../../harness/clients/client.ts';
import { multipart, type Part } from '../../harness/clients/multipart.ts';
import { createFindProblem, type FindProblem } from '../check-answer.ts';
import { type Operation, operationsOf } from '../operations.ts';

/** The request to one operation, by parameter name. */
interface CallValues {
  /** The caller's token; none for a guest. */
  readonly as?: string | undefined;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent instead of a body. */
  readonly form?: readonly Part[];
  /** Sent unchanged, instead of a body. */
  readonly raw?: { readonly type: string; readonly text: string | Uint8Array };
}

/** Sends a request and returns its answer. Throws unless the answer is a success that matches the document. */
export type Call = (operationId: string, values?: CallValues) => Promise<Answer>;

/** The document's operations and those that succeeded. */
interface Survey {
  readonly call: Call;
  /** Reads this caller's document again. */
  learn(token?: string): Promise<void>;
  readonly document: object;
  readonly operations: readonly Operation[];
  readonly reached: ReadonlySet<string>;
  /** Notes an operation that succeeded but whose answer stays open. */
  reach(operationId: string): void;
}

/** Begins a survey at a stack's URL with the document that a guest sees. */
export async function beginSurvey(url: string): Promise<Survey> {
  const reached = new Set<string>();
  let document: object;
  let operations: Operation[] = [];
  let findProblem: FindProblem;

  async function learn(token?: string): Promise<void> {
    const { json } = await createClient(url, token).get('/api/v1/openapi.json');
    document = json as object;
    operations = operationsOf(document);
    findProblem = createFindProblem(document);
  }

  async function call(
    id: string,
    { as, path = {}, query = {}, headers, body, form, raw }: CallValues = {},
  ): Promise<Answer> {
    const operation = operations.find((one) => one.id === id);
    assert.ok(operation, `the document has no operation ${id}`);
    const target = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
      const value = path[name];
      assert.ok(value !== undefined, `${id} needs the parameter ${name}`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams(query).toString();
    const rawSending = raw && { rawBody: raw.text, headers: { 'Content-Type': raw.type } };
    const sending = form ? multipart(...form) : (rawSending ?? { body, ...(headers && { headers }) });
    const place = `${target}${search && `?${search}`}`;
    const answer = await createClient(url, as).send(operation.method, place, sending);
    assert.ok(answer.status >= 200 && answer.status < 300, `${id}: ${answer.status} ${answer.text}`);
    assert.equal(findProblem({ operation, path: place }, answer), undefined, id);
    reached.add(id);
    return answer;
  }

  await learn();
  return {
    call,
    learn,
    reached,
    reach: (id) => void reached.add(id),
    get document() {
      return document;
    },
    get operations() {
      return operations;
    },
  };
}
