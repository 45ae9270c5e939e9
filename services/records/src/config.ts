import { eventStreamMaxBytes } from '@recordbus/bus';
import { databaseUrl, dataDirectory, jwtSecret, natsUrl } from '@recordbus/shared/config';

/** What the records service reads from its environment when it runs alone, beside what every process reads. */
export const recordsVariables = { databaseUrl, natsUrl, jwtSecret, dataDirectory, eventStreamMaxBytes };
