import type pg from 'pg';
import { startBareServer } from './bare/bare-server.ts';
import { runStatementLoop } from './bare/statement-loop.ts';
import { copyOutbox, insertPost, insertPostAndEvent } from './bare/statements.ts';
import { measureBeside } from './beside/measure-beside.ts';
import { startGenerator } from './generator/generator.ts';
import { measureImports } from './imports/measure-imports.ts';
import { measureLive } from './live/measure-live.ts';
import { measureMove } from './moves/measure-move.ts';
import type { Options } from './options.ts';
import { residentMb, untilIdle } from './process-usage.ts';
import { fillProduct } from './product/fill-product.ts';
import { startProduct } from './product/start-product.ts';
import { describeMachine, describeOtherLoad } from './report/machine.ts';
import type { Result } from './report/result.ts';
import { allRows, isWanted } from './rows/all-rows.ts';
import { measureBesideExtension } from './rows/beside-extension.ts';
import { type Measuring, measureRow, type RowResult } from './rows/measure-row.ts';
import { titleOf } from './rows/row.ts';
import { findAuthor, sizes } from './seed.ts';
import { median } from './statistics.ts';
import { measureWebhooks } from './webhooks/measure-webhooks.ts';

/** Reports progress. */
type Tell = (text: string) => void;

/** Runs the whole bench. `cleanUp` collects what has to be stopped, even after a signal. */
export async function runBench(options: Options, tell: Tell, cleanUp: AsyncDisposableStack): Promise<Result> {
  const otherLoad = describeOtherLoad();
  for (const line of otherLoad) tell(line);
  tell('starting the product on a temporary data directory');
  const product = await startProduct(options);
  cleanUp.defer(() => product.stop());
  await untilIdle([product.pid]);
  const idleMb = residentMb(product.pid);
  tell('seeding 50 organisations, 5,500 authors and 110,000 posts');
  const database = await fillProduct(product, cleanUp);
  for (const statement of copyOutbox) await database.query(statement);

  const bare = await startBareServer(product);
  cleanUp.defer(() => bare.stop());
  const generator = startGenerator();
  cleanUp.defer(() => generator.stop());

  const measuring: Measuring = { generator, database, product, bare, admin: product.admin, ...options };
  const rows = await measureRows(measuring, options, tell);
  if (isWanted(options, 'extension')) {
    tell('a create in a product with an extension, and in one without');
    rows.push(await measureBesideExtension(measuring, options, cleanUp));
  }

  let statements: Result['statements'];
  if (isWanted(options, 'create')) {
    tell('the create statement without HTTP, with its event and without');
    statements = await measureStatements(product.databaseUrl, database, options);
  }
  let beside: Result['beside'];
  if (isWanted(options, 'beside')) {
    tell("other clients during 20 guests' most expensive reads");
    beside = await measureBeside(measuring, cleanUp);
  }
  let webhooks: Result['webhooks'];
  if (isWanted(options, 'webhooks')) {
    tell('webhooks');
    const { admin, url: productUrl, pid: productPid } = product;
    const authorId = await findAuthor(database, sizes['10k'].authors);
    webhooks = await measureWebhooks({ admin, productUrl, productPid, authorId });
  }
  let imports: Result['imports'];
  if (isWanted(options, 'import')) {
    tell('imports, and gets during one');
    imports = await measureImports(measuring);
  }
  let move: Result['move'];
  if (isWanted(options, 'import-pocketbase')) {
    tell('a move from PocketBase');
    move = await measureMove(product);
  }
  let live: Result['live'];
  if (isWanted(options, 'live')) {
    tell('ten thousand live connections');
    live = await measureLive({ product, database, options });
  }
  await untilIdle([product.pid]);
  return {
    machine: [...otherLoad, ...(await describeMachine(database, product.dataDirectory))],
    conditions: describeConditions(options),
    rows,
    statements,
    beside,
    webhooks,
    imports,
    move,
    live,
    memory: { idleMb, afterMb: residentMb(product.pid) },
  };
}

async function measureRows(measuring: Measuring, options: Options, tell: Tell): Promise<RowResult[]> {
  const results: RowResult[] = [];
  for (const row of allRows) {
    if (!isWanted(options, row.name)) continue;
    tell(titleOf(row));
    results.push(await measureRow(row, measuring));
  }
  return results;
}

async function measureStatements(
  databaseUrl: string,
  database: pg.Client,
  { rounds, seconds }: Options,
): Promise<NonNullable<Result['statements']>> {
  const { posts, authors } = sizes['100k'];
  const author = await findAuthor(database, authors);
  const [withEvent, withoutEvent]: number[][] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    withEvent?.push(await runStatementLoop(databaseUrl, { insert: insertPostAndEvent(posts), author, seconds }));
    withoutEvent?.push(await runStatementLoop(databaseUrl, { insert: insertPost(posts), author, seconds }));
  }
  return { withEventPerSec: median(withEvent ?? []), withoutEventPerSec: median(withoutEvent ?? []) };
}

const describeConditions = ({ connections, rounds, seconds, logLevel }: Options): string[] => [
  `${connections} connections, ${rounds} rounds of ${seconds} s on each server in turn after a warm-up; requests/s is the median round, percentiles are over all rounds`,
  'all services in one process; load generator, product, bare server and PostgreSQL share the cores',
  `callers are guests and the rules public, unless a row says otherwise; rate limits off; the product logs at ${logLevel}, the bare server nothing`,
];
