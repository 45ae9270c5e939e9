import { type Database, isDatabaseError, type Query } from '@recordbus/database';
import type { Collection } from '@recordbus/schema';
import { AppError } from '@recordbus/shared/errors';

/** Where a collection is read: a view may be any amount of work, and must not hold up the short reads of others. */
export const readerFor = (collection: Collection, { read, query }: Pick<Database, 'read' | 'query'>): Query =>
  collection.type === 'view' ? (statement) => query<never>(statement).catch(explainFailure(collection)) : read;

/** 422: what the query of a view reckons can't be reckoned with the data that is there now. */
const explainFailure =
  ({ name }: Collection) =>
  (error: unknown): never => {
    if (!isDatabaseError(error) || !/^22/.test(error.code ?? '') || error.code === notStorable) throw error;
    throw new AppError(422, 'view_failed', `the view ${name} fails over its data: ${error.message}`, { cause: error });
  };

/** SQLSTATE of a text with NUL, which came with the request. */
const notStorable = '22021';
