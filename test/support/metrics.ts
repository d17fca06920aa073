import supertest from 'supertest';

/** Every figure of a replica, by its name and labels as Prometheus reads them. */
export async function readMetrics(
  { url }: { url: string },
  adminToken?: string,
): Promise<Map<string, number>> {
  const request = supertest(url).get('/metrics');
  if (adminToken !== undefined) request.set('Authorization', `Bearer ${adminToken}`);
  const { text } = await request.expect(200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}
