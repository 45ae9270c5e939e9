import type { Bus, EventStream } from '@recordbus/bus';
import type { ValueCipher } from '@recordbus/crypto';
import type { Database } from '@recordbus/database';
import type { ExtensionsConfig } from '@recordbus/extension-host';
import type { Logger } from '@recordbus/process/logging';
import type { CollectionCache } from '@recordbus/schema';
import type { Settings } from '@recordbus/settings';
import type { Storage } from '@recordbus/storage';
import type { BackupPlace } from './backups/backup-place.ts';
import type { RestorePlace } from './backups/restores.ts';

/** What the records service depends on. */
export interface RecordsDeps {
  readonly log: Logger;
  readonly database: Database;
  readonly bus: Bus;
  /** The raw bytes of the secret that signs tokens. The keys for stored idempotent answers are derived from it. */
  readonly secret: Uint8Array;
  /** The process's copies, loaded before the service starts and stopped after it. */
  readonly settings: Settings;
  readonly collections: CollectionCache;
  /** Encrypts and decrypts encrypted fields. */
  readonly cipher: ValueCipher;
  readonly config: {
    /** The URL of the service that lists breached passwords. */
    readonly breachServiceUrl: string;
    /** Largest multipart body; 100 MiB by default. */
    readonly maxUploadBytes?: number;
    /** How much memory the images from which previews are made may take, decoded, in MiB; 256 by default. */
    readonly previewsMemoryMb?: number;
    /** Into how many partitions the replicas divide the events to publish; 8 by default. */
    readonly eventPartitions?: number;
    /** The push notification providers' URLs. */
    readonly onesignalUrl: string;
    readonly fcmUrl: string;
  };
  /** The store for files' bytes. */
  readonly storage: Storage;
  /** What backups depend on. */
  readonly backups: BackupPlace;
  /** Where restores are left to the process that runs the stack; without it there are none through the API. */
  readonly restores?: RestorePlace | undefined;
  /** What moves from other products depend on. */
  readonly moves: {
    /** Where backups are unpacked. */
    readonly folder: string;
    /** The gateway's address, as this process reaches it; undefined while nobody knows it. */
    gatewayUrl(): string | undefined;
  };
  /** The event stream; by default the one in events §2.1. */
  readonly stream?: EventStream;
  /** The extensions; none by default. */
  readonly extensions?: ExtensionsConfig | undefined;
  /** How much memory searches' vectors may take; 512 MiB by default. */
  readonly vectorMemoryBytes?: number;
}
