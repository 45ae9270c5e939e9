import { validationFailed } from '@recordbus/errors';
import type { SettingsPatch } from '@recordbus/settings';

const template = /^email\.\w+\.(?:subject|body)$/;

/** Two braces that begin no variable, with some of what follows. */
const unfilled = /\{\{(?!\s*\w+\s*\}\})[^{}\n]{0,20}/;

/**
 * Throws 422 that names each mail template with `{{` that is never filled (mail §2.5): recipients would read it.
 * Checked when a template is stored, so that an earlier version's template still counts.
 */
export function checkTemplatesOf(patch: SettingsPatch): void {
  const problems: Record<string, string> = {};
  for (const [key, text] of Object.entries(patch)) {
    const found = template.test(key) ? unfilled.exec(text)?.[0] : undefined;
    if (found !== undefined)
      problems[key] =
        `"${found.trim()}" is not filled: only {{name}} is, with a variable name; there are no conditions`;
  }
  if (Object.keys(problems).length > 0) throw validationFailed(problems);
}
