import { after, before, describe } from 'node:test';
import pg from 'pg';
import { skipWithoutDatabase } from './records-fixture.ts';
import { testAnswers } from './vector-answers.ts';
import { startVectors, type VectorFixture } from './vector-fixture.ts';
import { testRanking } from './vector-ranking.ts';

/** Whether pgvector can be installed on the server. */
async function isExtensionAvailable(): Promise<boolean> {
  if (!process.env.TEST_DATABASE_URL) return false;
  const client = new pg.Client(process.env.TEST_DATABASE_URL);
  await client.connect();
  const { rows } = await client.query("select from pg_available_extensions where name = 'vector'");
  await client.end();
  return rows.length > 0;
}

const skipWithoutExtension = skipWithoutDatabase || (!(await isExtensionAvailable()) && 'the server has no pgvector');
const littleMemory = { vectorMemoryBytes: 200_000 };

for (const { title, options, skip } of [
  { title: 'vector search', options: { extension: false }, skip: skipWithoutDatabase },
  {
    title: 'vector search with little memory',
    options: { ...littleMemory, extension: false },
    skip: skipWithoutDatabase,
  },
  {
    title: 'vector search with pgvector',
    options: { ...littleMemory, extension: true },
    skip: skipWithoutExtension,
  },
])
  describe(title, { skip }, () => {
    let started: VectorFixture | undefined;
    const fixture = (): VectorFixture => {
      if (!started) throw new Error('the fixture has not started');
      return started;
    };

    before(async () => {
      started = await startVectors(options);
    });
    after(() => started?.records.stop());

    testRanking(fixture);
    testAnswers(fixture);
  });
