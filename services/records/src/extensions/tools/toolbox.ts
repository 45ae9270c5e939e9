import { mapDatabaseError } from '@recordbus/database';
import type { AnswerAsk } from '@recordbus/extension-host';
import { notFound } from '@recordbus/shared/errors';
import type { CallScope } from '../call-scope.ts';
import type { Tool } from './tool.ts';

/** Gives an extension's call its tools. */
export type Toolbox = (extension: string, scope: CallScope) => AnswerAsk;

/** Makes the toolbox of all tools by their names. */
export const createToolbox =
  (tools: Readonly<Record<string, Tool>>): Toolbox =>
  (extension, scope) =>
  async (method, args, worker) => {
    const tool = Object.hasOwn(tools, method) ? tools[method] : undefined;
    if (!tool) throw notFound(`the function ${method}`);
    try {
      return await tool({ extension, scope, worker, method }, args);
    } catch (error) {
      throw mapDatabaseError(error) ?? error;
    }
  };
