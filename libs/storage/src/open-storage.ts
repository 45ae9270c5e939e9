import { join } from 'node:path';
import { type Config, dataDirectory, urlOf, variable } from '@recordbus/process/config';
import { makeDirectory, unusablePath } from '@recordbus/process/directory';
import { z } from 'zod';
import { openLocalStorage } from './local-storage.ts';
import type { Storage } from './storage.ts';

/** The environment variables for the upload store. */
export const storageVariables = {
  dataDirectory,
  storageUrl: variable(
    'SERVICE_STORAGE_URL',
    'Bucket in an S3-compatible store for uploaded files, s3://bucket or s3://bucket/prefix; without it the directory uploads in the data directory.',
    urlOf('s3').optional(),
  ),
  storageEndpoint: variable(
    'SERVICE_STORAGE_ENDPOINT',
    'URL for the S3-compatible store, when it is not Amazon S3.',
    urlOf('http', 'https').optional(),
  ),
  storageRegion: variable('SERVICE_STORAGE_REGION', 'Bucket region.', z.string().default('us-east-1')),
  storageAccessKey: variable(
    'SERVICE_STORAGE_ACCESS_KEY',
    "Access key id for the store; without it the machine's credentials are used.",
    z.string().optional(),
  ),
  storageSecretKey: variable(
    'SERVICE_STORAGE_SECRET_KEY',
    'Secret that belongs to the access key.',
    z.string().optional(),
  ),
};

/**
 * Opens the store that the configuration names, or its folder for backups. The S3 client is loaded only when needed. Throws ConfigError for a data
 * directory that cannot be used.
 */
export async function openStorage(
  config: Config<typeof storageVariables>,
  folder: 'uploads' | 'backups' = 'uploads',
): Promise<Storage> {
  if (config.storageUrl === undefined) {
    const directory = join(config.dataDirectory, folder);
    try {
      makeDirectory(directory, 0o700);
      return await openLocalStorage(directory);
    } catch (error) {
      throw unusablePath(dataDirectory.name, directory, error);
    }
  }
  const { hostname: bucket, pathname } = new URL(config.storageUrl);
  const { storageAccessKey: accessKeyId, storageSecretKey: secretAccessKey } = config;
  const { openS3Storage } = await import('./s3-storage.ts');
  return openS3Storage({
    bucket,
    // Uploaded files are at the prefix itself.
    prefix: [...pathname.split('/').filter(Boolean), ...(folder === 'uploads' ? [] : [folder])].join('/'),
    endpoint: config.storageEndpoint,
    region: config.storageRegion,
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined,
  });
}
