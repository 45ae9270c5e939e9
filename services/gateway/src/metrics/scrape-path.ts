/** The path that Prometheus scrapes; `admitScrape` decides who may. */
export const scrapePath = '/api/v1/metrics';
