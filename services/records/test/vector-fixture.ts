import assert from 'node:assert/strict';
import { type Answer, type RecordsFixture, type Sent, type ShownRecord, startRecords } from './records-fixture.ts';
import { testCollection } from './test-collection.ts';

const relation = (name: string, collection: string) => ({ name, type: 'relation', collection }) as const;
const vector = (name: string, dimensions: number) => ({ name, type: 'vector', options: { dimensions } }) as const;
const list = (rule: string | null) => ({
  rules: { list: rule, view: null, create: null, update: null, delete: null },
});

/** Numbers between -1 and 1, the same in each run (a linear congruential generator). */
function createNumbers(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

const exactCosine = (a: readonly number[], b: readonly number[]): number => {
  const dot = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
  const length = Math.sqrt(dot(a, a) * dot(b, b));
  return length === 0 ? 0 : dot(a, b) / length;
};

const dimensions = 24;
export const count = 3000;

export interface StoredVector {
  readonly id: string;
  readonly title: string;
  readonly v: number[];
  readonly owner: string | null;
}

/** The records service with `count` vectors in the collection `docs`. */
export interface VectorFixture {
  readonly records: RecordsFixture;
  readonly stored: readonly StoredVector[];
  /** Many stored vectors have its direction, nearly or exactly. */
  readonly near: readonly number[];
  /** The generator's next number between -1 and 1. */
  readonly nextNumber: () => number;
  randomVector(): number[];
  search(collection: string, vector: unknown, more?: string, sent?: Sent): Promise<Answer>;
  /**
   * Asserts that these are the top `limit` among the stored vectors that `keep` admits, in order, with their scores.
   */
  assertTop(
    rows: readonly ShownRecord[],
    question: readonly number[],
    limit: number,
    keep?: (stored: StoredVector) => boolean,
  ): void;
}

export interface VectorOptions {
  readonly vectorMemoryBytes?: number;
  /** Whether pgvector is installed. */
  readonly extension: boolean;
}

/** Starts the service and stores the vectors. */
export async function startVectors({ extension, ...options }: VectorOptions): Promise<VectorFixture> {
  const nextNumber = createNumbers();
  const randomVector = () => Array.from({ length: dimensions }, nextNumber);
  const near = randomVector();
  const records = await startRecords(collections, options);
  if (extension) await records.database.query({ text: 'create extension vector', values: [] });
  const stored = makeVectors(near, randomVector, nextNumber);
  await records.database.query({
    text: `insert into records.docs (id, title, owner, v, created_at, updated_at)
      select r.id, r.title, r.owner, r.v, 1, 1 from json_populate_recordset(null::records.docs, $1) r`,
    values: [JSON.stringify(stored)],
  });
  return {
    records,
    stored,
    near,
    nextNumber,
    randomVector,
    search: (collection, question, more = '', sent) =>
      records.send(
        'GET',
        `/api/${collection}?nearVector=${encodeURIComponent(JSON.stringify(question))}&nearVectorField=v${more}`,
        sent,
      ),
    assertTop(rows, question, limit, keep = () => true) {
      const top = topOf(stored.filter(keep), question, limit);
      assert.equal(rows.length, top.length);
      for (const [index, { score }] of top.entries()) {
        const row = rows[index];
        assert.ok(Math.abs(Number(row?._score) - score) < 1e-9, `${index}: ${row?._score} is not ${score}`);
        const own = stored.find(({ id }) => id === row?.id);
        assert.ok(own && Math.abs(Number(row?._score) - exactCosine(question, own.v)) < 1e-9);
      }
      const scores = rows.map(({ _score }) => Number(_score));
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => b - a),
      );
    },
  };
}

const collections = [
  testCollection('authors', [{ name: 'name' }]),
  testCollection('docs', [
    { name: 'title' },
    { name: 'owner' },
    vector('v', dimensions),
    relation('author', 'authors'),
  ]),
  testCollection('owned', [{ name: 'title' }, { name: 'owner' }, vector('v', 2)], list('owner = @request.auth.id')),
  testCollection('small', [{ name: 'title' }, vector('v', 2), vector('w', 3)]),
  testCollection('wide', [vector('v', 4096)]),
  testCollection('seen', [{ name: 'owner' }, vector('v', dimensions)], {
    type: 'view',
    viewQuery: 'select id, owner, v, created_at, updated_at from records.docs',
  }),
];

/** Some have nearly the same direction as `near`, some exactly, some none. */
function makeVectors(
  near: readonly number[],
  randomVector: () => number[],
  nextNumber: () => number,
): readonly StoredVector[] {
  const vectorAt = (index: number): number[] => {
    if (index % 500 === 3) return Array.from({ length: dimensions }, () => 0);
    return index % 100 === 1 ? [...near] : randomVector();
  };
  const stored = Array.from({ length: count }, (_, index) => ({
    id: `d${String(index).padStart(5, '0')}`,
    title: `title ${index}`,
    v: vectorAt(index),
    owner: index % 2 ? 'odd' : 'even',
  }));
  for (let index = 0; index < count; index += 50)
    stored[index]?.v.splice(0, dimensions, ...near.map((value) => value * (1 + nextNumber() * 1e-7)));
  return stored;
}

const topOf = (stored: readonly StoredVector[], question: readonly number[], limit: number) =>
  stored
    .map(({ id, v }) => ({ id, score: exactCosine(question, v) }))
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
