import {
  addOutboxGauges,
  addStreamGauges,
  createOutboxRelay,
  createRoomWatch,
  eventStream,
  type OutboxRelay,
} from '@recordbus/bus';
import { createMetrics } from '@recordbus/process/metrics';
import { findCaseCollation, type QuerySchema } from '@recordbus/query';
import type { CollectionCache } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import { createDropDeletedVersions } from './delete/drop-deleted-versions.ts';
import { createKeptPreviews, type KeptPreviews } from './files/kept-previews.ts';
import { createDecoders, type Decoders } from './files/previews/decoders.ts';
import { createWarmForFiles } from './files/previews/warm-for-files.ts';
import { createRemovals, type Removals } from './files/removals.ts';
import type { RecordsDeps } from './records-deps.ts';

/** The service's background work, and the copies of settings and collections that requests read. */
export interface RecordsParts extends ReturnType<typeof createMeters> {
  readonly settings: Settings;
  readonly cache: CollectionCache;
  /** The collections that rules and filters may name. */
  readonly schema: QuerySchema;
  readonly relay: OutboxRelay;
  readonly removals: Removals;
  readonly previews: KeptPreviews;
  readonly decoders: Decoders;
  start(): Promise<void>;
  /** Loads what requests need and the start has not loaded (cost §4.3). */
  warm(): Promise<void>;
  stop(): Promise<void>;
}

/** The preview memory by default (files §5.5). */
const usualPreviewsMemoryMb = 256;

/** Creates the service's parts. Nothing runs before `start`. */
export function createRecordsParts(given: RecordsDeps): RecordsParts {
  const { log, database, bus, settings, collections: cache, storage, stream = eventStream } = given;
  const keptFor = () => settings.get('events.kept_for');
  const background = database.of('background');
  const relay = createOutboxRelay({
    database: background,
    bus,
    log,
    stream,
    keptFor,
    partitions: given.config.eventPartitions,
  });
  const removals = createRemovals({ database: background, storage, collections: cache.all, log });
  const versions = createDropDeletedVersions(background.query, log);
  const maxBytes = () => settings.get('files.thumbs_max_bytes');
  const previews = createKeptPreviews({ query: database.query, storage, log, maxBytes });
  const decoders = createDecoders({
    log,
    budgetBytes: (given.config.previewsMemoryMb ?? usualPreviewsMemoryMb) * 2 ** 20,
  });
  const warmForFiles = createWarmForFiles({ decoders, collections: cache, log });
  let collation: string | undefined;
  const schema = {
    findCollection: cache.find,
    get collation() {
      return collation;
    },
  };

  return {
    settings,
    cache,
    schema,
    relay,
    removals,
    previews,
    decoders,
    ...createMeters(given, keptFor),
    async start() {
      collation = await findCaseCollation(database.query);
      relay.start();
      removals.start();
      previews.start();
      versions.start();
    },
    warm: warmForFiles.warm,
    async stop() {
      warmForFiles.stop();
      await versions.stop();
      await removals.stop();
      await previews.stop();
      await decoders.stop();
      await relay.stop();
    },
  };
}

/** Creates the metrics for the outbox and the stream. */
function createMeters({ database, bus, stream = eventStream }: RecordsDeps, keptFor: () => readonly string[]) {
  const metrics = createMetrics('records');
  addOutboxGauges(metrics, database.of('background').query);
  const roomWatch = createRoomWatch({ bus, stream, keptFor });
  addStreamGauges(metrics, roomWatch);
  return { stream, metrics, roomWatch };
}
