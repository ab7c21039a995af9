# For several platforms at once: docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v1.2.3 .
# The compiler runs on the builder's own platform and cross-compiles.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
# VERSION is what the binary says of itself: there is no Git repository in an image build. Empty: devel.
ARG VERSION=
WORKDIR /src
COPY go.mod go.sum ./
COPY api api
COPY charts charts
COPY cmd cmd
COPY internal internal
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/gpu-inventory/gpu-inventory-operator/internal/version.override=$VERSION" \
    -o /manager ./cmd/manager

# Nothing but the program: it is static, trusts the API server by the CA that comes with its service account, logs in UTC and
# writes no file. The image of a release is made of the same parts, by ko, which puts a program here.
FROM scratch
COPY --from=build /manager /ko-app/manager
# By number, so that a kubelet can see that it is not root.
USER 65532:65532
ENTRYPOINT ["/ko-app/manager"]
