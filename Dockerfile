# The image of an engine, for amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 --tag REGISTRY/propwash:VERSION .
# It has no flytekit: the engine reads what `pyflyte package` wrote, and tasks have images of their own. Where the engine
# runs tasks as its own processes, or shall register Python files, build with --build-arg EXTRAS=flytekit.
ARG PYTHON=3.11.13-slim-bookworm

FROM python:${PYTHON} AS build
ARG EXTRAS=""
ENV PIP_CONSTRAINT=/src/constraints.txt PIP_BUILD_CONSTRAINT=/src/constraints.txt PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/propwash
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY config config
COPY handlers handlers
COPY engine engine
RUN /opt/propwash/bin/python -m pip install ".${EXTRAS:+[$EXTRAS]}" && \
    /opt/propwash/bin/python -m compileall -q /opt/propwash

FROM python:${PYTHON}
RUN useradd --uid 10001 --create-home --home-dir /var/lib/propwash --shell /usr/sbin/nologin propwash
COPY --from=build /opt/propwash /opt/propwash
ENV PATH=/opt/propwash/bin:$PATH PROPWASH_HOME=/var/lib/propwash/home PYTHONUNBUFFERED=1
WORKDIR /var/lib/propwash
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["propwash"]
CMD ["serve"]
