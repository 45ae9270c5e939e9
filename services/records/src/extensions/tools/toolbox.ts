import { type AppError, notFound } from '@recordbus/errors';
import type { AnswerAsk } from '@recordbus/extension-host';
import type { CallScope } from '../call-scope.ts';
import type { Tool } from './tool.ts';

/** Returns the tools for an extension's call. */
export type Toolbox = (extension: string, scope: CallScope) => AnswerAsk;

/** Maps a dependency's error to a refusal; undefined for unknown errors. */
export type MapError = (error: unknown) => AppError | undefined;

/** Creates the toolbox with all tools, by name. */
export const createToolbox =
  (tools: Readonly<Record<string, Tool>>, mapError: MapError): Toolbox =>
  (extension, scope) =>
  async (method, args, worker) => {
    const tool = Object.hasOwn(tools, method) ? tools[method] : undefined;
    if (!tool) throw notFound(`the function ${method}`);
    try {
      return await tool({ extension, scope, worker, method }, args);
    } catch (error) {
      throw mapError(error) ?? error;
    }
  };
