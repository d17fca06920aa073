FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY dashboard/package.json dashboard/
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY dashboard dashboard
RUN npm run --silent build:service && npm run --silent build:dashboard

# Neither what only development needs, nor the embedded PostgreSQL, nor the packages of
# the command-line client and the dashboard.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY cli/package.json cli/
COPY dashboard/package.json dashboard/
RUN npm ci --omit=dev --omit=optional --ignore-scripts --workspaces=false

FROM node:24.21.0-bookworm-slim
# Threads for files and for names that only the system resolves, of which one may take ten seconds.
ENV NODE_ENV=production DATA_DIR=/data UV_THREADPOOL_SIZE=16
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/dashboard/dist dashboard/dist
COPY package.json ./
# The image's user `node`, by its number: Kubernetes' `runAsNonRoot` cannot tell of a name that it is not root's.
RUN install -d -o 1000 -g 1000 /data
# The one folder that is written to.
VOLUME /data
USER 1000:1000
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=4s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Not through npm or a shell, which would keep the signals to themselves.
CMD ["node", "dist/main.js"]
