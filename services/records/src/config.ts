import { eventPartitions, eventStreamMaxBytes } from '@recordbus/bus/config';
import { encryptionKey } from '@recordbus/crypto/config';
import { extensionVariables } from '@recordbus/extension-host/config';
import { fcmUrl, onesignalUrl } from '@recordbus/notifications/config';
import { breachServiceUrl } from '@recordbus/passwords/config';
import {
  databaseReplicaUrls,
  databaseUrl,
  jwtSecret,
  natsUrl,
  urlOf,
  variable,
  wholeNumber,
} from '@recordbus/process/config';
import { storageVariables } from '@recordbus/storage';
import { z } from 'zod';
import { backupsMaxBytes } from './backups/room.ts';

/** files §3.5. */
const maxUploadBytes = variable(
  'SERVICE_MAX_UPLOAD_BYTES',
  'Largest multipart body in bytes; 100 MiB by default.',
  wholeNumber(1, 2 ** 46).optional(),
);

/** files §5.5. */
const previewsMemoryMb = variable(
  'SERVICE_PREVIEWS_MEMORY_MB',
  'Memory for decoded images while previews are made, in MiB; 256 by default.',
  wholeNumber(16, 65_536).optional(),
);

/** move §5.1. In one process the gateway is known. */
const gatewayUrl = variable(
  'SERVICE_GATEWAY_URL',
  'Where the gateway listens, for moves through the API; without it there are none.',
  urlOf('http').optional(),
);

/** operation §9.7. In one process the directory is known. */
const restoreDirectory = variable(
  'SERVICE_RESTORE_DIR',
  'Where restores through the API are left to the process that runs the stack; set by that process.',
  z.string().optional(),
);

/** The service's variables, in addition to the database's and the bus's, in every process that runs it. */
export const ownVariables = { ...storageVariables, maxUploadBytes, previewsMemoryMb, backupsMaxBytes, eventPartitions };

/** The variables for a process that runs only the records service, in addition to every process's. */
export const recordsVariables = {
  databaseUrl,
  databaseReplicaUrls,
  natsUrl,
  jwtSecret,
  encryptionKey,
  gatewayUrl,
  restoreDirectory,
  breachServiceUrl,
  eventStreamMaxBytes,
  ...ownVariables,
  ...extensionVariables,
  fcmUrl,
  onesignalUrl,
};
