import { validationFailed } from '@recordbus/errors';
import { describeIssues } from '@recordbus/errors/describe-issues';
import { type Notifier, notificationSchema } from '@recordbus/notifications';
import { z } from 'zod';
import { type Tool, tool } from './tool.ts';

/** `notifications.send`, through the providers that the settings enable. */
export const notificationTools = (notifier: Notifier): Readonly<Record<string, Tool>> => ({
  'notifications.send': tool(z.tuple([z.string()]), async (_call, [text]) => {
    const read = notificationSchema.safeParse(JSON.parse(text));
    if (!read.success) throw validationFailed(describeIssues(read.error));
    return JSON.stringify(await notifier.send(read.data));
  }),
});
