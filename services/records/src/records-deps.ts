import type { Bus, EventStream } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import type { ExtensionsConfig } from '@recordbus/extension-host';
import type { Logger } from '@recordbus/process/logging';
import type { CollectionCache } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import type { Storage } from '@recordbus/storage';
import type { BackupPlace } from './backups/backup-place.ts';

/** The dependencies of the records service. */
export interface RecordsDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** Raw bytes of the secret that signs tokens. The keys of stored idempotent answers are derived from it. */
  readonly secret: Uint8Array;
  /** The copies of the process, loaded before the service starts and stopped after it. */
  readonly settings: Settings;
  readonly collections: CollectionCache;
  /** Encrypts and decrypts encrypted fields. */
  readonly cipher: ValueCipher;
  readonly config: {
    /** URL of the service that lists breached passwords. */
    readonly breachServiceUrl: string;
    /** Largest multipart body; 100 MiB by default. */
    readonly maxUploadBytes?: number;
    /** The memory of the images that previews are made of, decoded, in MiB; 256 by default. */
    readonly previewsMemoryMb?: number;
    /** The number of partitions into which the replicas divide the events to publish; 8 by default. */
    readonly eventPartitions?: number;
    /** URLs of the push notification providers. */
    readonly onesignalUrl: string;
    readonly fcmUrl: string;
  };
  /** The store of the bytes of files. */
  readonly storage: Storage;
  /** The dependencies of backups. */
  readonly backups: BackupPlace;
  /** The stream of events; by default that of events §2.1. */
  readonly stream?: EventStream;
  /** The extensions; none by default. */
  readonly extensions?: ExtensionsConfig | undefined;
  /** The maximum memory for the vectors of searches; 512 MiB by default. */
  readonly vectorMemoryBytes?: number;
}
