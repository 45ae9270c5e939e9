import type { PortalTheme } from '@recordbus/client';

const prefersLight = matchMedia('(prefers-color-scheme: light)');

/** Applies the mode and the colours of the product that the portal is part of. */
export function applyTheme({ mode = 'system', title, ...colours }: PortalTheme): void {
  const root = document.documentElement;
  const apply = (): void => {
    root.dataset.theme = mode === 'light' || (mode === 'system' && prefersLight.matches) ? 'light' : 'dark';
  };
  apply();
  prefersLight.addEventListener('change', apply);
  if (title) document.title = title;
  for (const [name, colour] of Object.entries(colours))
    root.style.setProperty(`--${name.replaceAll('_', '-')}`, colour);
}
