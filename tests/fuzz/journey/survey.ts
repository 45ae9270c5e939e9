import assert from 'node:assert/strict';
import { type Answer, createClient } from '../../harness/client.ts';
import { multipart, type Part } from '../../harness/multipart.ts';
import { createFindProblem, type FindProblem } from '../check-answer.ts';
import { type Operation, operationsOf } from '../operations.ts';

/** What is asked of one operation; the names are those of its parameters. */
interface Asking {
  /** The token of the caller; a guest without. */
  readonly as?: string | undefined;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sent instead of a body. */
  readonly form?: readonly Part[];
}

/** Sends a request that has to succeed, and demands an answer as the document declares it. Gives the answer. */
export type Ask = (operationId: string, asking?: Asking) => Promise<Answer>;

/** Which operations of the document were seen to succeed. */
interface Survey {
  readonly ask: Ask;
  /** Reads the document as this caller sees it now. */
  learn(token?: string): Promise<void>;
  readonly document: object;
  readonly operations: readonly Operation[];
  readonly reached: ReadonlySet<string>;
}

/** Begins a survey of the stack at a URL with the document that a guest sees. */
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

  async function ask(id: string, { as, path = {}, query = {}, body, form }: Asking = {}): Promise<Answer> {
    const operation = operations.find((one) => one.id === id);
    assert.ok(operation, `the document has no operation ${id}`);
    const target = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => {
      const value = path[name];
      assert.ok(value !== undefined, `${id} wants the parameter ${name}`);
      return encodeURIComponent(value);
    });
    const search = new URLSearchParams(query).toString();
    const sending = form ? multipart(...form) : { body };
    const answer = await createClient(url, as).send(operation.method, `${target}${search && `?${search}`}`, sending);
    assert.ok(answer.status >= 200 && answer.status < 300, `${id}: ${answer.status} ${answer.text}`);
    assert.equal(findProblem({ operation }, answer), undefined, id);
    reached.add(id);
    return answer;
  }

  await learn();
  return {
    ask,
    learn,
    reached,
    get document() {
      return document;
    },
    get operations() {
      return operations;
    },
  };
}
