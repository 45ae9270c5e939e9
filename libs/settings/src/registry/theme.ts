import { setting, settingGroup } from './setting.ts';
import { hexColour } from './text-schemas.ts';

export const theme = settingGroup('Theme', ['admin'], {
  'theme.accent': setting(hexColour, '#3b82f6', 'CSS variable --accent.'),
  'theme.accent_hover': setting(hexColour, '#4a8ef7', 'CSS variable --accent-hover.'),
  'theme.accent_light': setting(hexColour, '#60a5fa', 'CSS variable --accent-light.'),
  'theme.bg_app': setting(hexColour, '#0e0f12', 'CSS variable --bg-app.'),
  'theme.bg_sidebar': setting(hexColour, '#131418', 'CSS variable --bg-sidebar.'),
  'theme.bg_panel': setting(hexColour, '#181a1f', 'CSS variable --bg-panel.'),
  'theme.text_primary': setting(hexColour, '#e6e8ed', 'CSS variable --text-primary.'),
  'theme.text_secondary': setting(hexColour, '#9aa0ac', 'CSS variable --text-secondary.'),
  'theme.success': setting(hexColour, '#22c55e', 'CSS variable --success.'),
  'theme.warning': setting(hexColour, '#f59e0b', 'CSS variable --warning.'),
  'theme.danger': setting(hexColour, '#ef4444', 'CSS variable --danger.'),
});
