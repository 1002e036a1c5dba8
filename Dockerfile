# Any image with Node 24 and npm whose user 1000 may run the service; a Debian or an Alpine one.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts stay off: nothing in production needs one, and better-sqlite3 would look for a compiler although it
# brings its binaries along.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# Of those binaries only the one that loads here stays. The build fails if it does not load.
RUN cd node_modules/better-sqlite3 \
  && binary="$(node -p 'require("./lib/binding.js").getPrebuildPath()')" \
  && find prebuilds -type f ! -name "${binary##*/}" -delete \
  && rm -rf deps src binding.gyp \
  && node -e 'new (require("/app/node_modules/better-sqlite3"))(":memory:").close()'

FROM ${NODE_IMAGE}
# The service needs node and nothing else. A new volume takes the owner of this /data.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn-* \
    /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg \
  && mkdir -m 700 /data \
  && chown 1000:1000 /data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY src src
COPY scripts/backup.ts scripts/
ENV NODE_ENV=production HOST=0.0.0.0 DATABASE_URL=file:/data/pagehaul.db
# The user `node`, as a number: Kubernetes cannot tell from a name that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
# To connect to 0.0.0.0 is to connect to this machine. An error ends node with code 1.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "require('node:http').get({ host: process.env.HOST, port: process.env.PORT || 8080, path: '/livez' }, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1))"]
# No shell in between: signals reach the service itself.
ENTRYPOINT []
CMD ["node", "src/main.ts"]
